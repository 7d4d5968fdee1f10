"""Answer types that take one text and never a pair."""

from typing import ClassVar

from niwaki.answers._answer_type import AnswerType, Input, check_text


class OneText(AnswerType):
    input_description: ClassVar[str] = "a string"

    def check(self, given: object) -> Input:
        return check_text(given)

    def from_line(self, line: str) -> Input:
        """Tabs are part of the text."""
        return line
