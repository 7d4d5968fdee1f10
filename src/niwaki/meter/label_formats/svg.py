"""The energy class from A to G, as a picture."""

from niwaki.core.json_types import Json
from niwaki.meter.label_formats._format import LabelData, LabelFormat
from niwaki.meter.label_formats.letter import label_of


class Svg(LabelFormat):
    def fields(self, data: LabelData) -> Json:
        return {"svg": label_of(data).svg()}

    def text(self, fields: Json) -> str:
        return str(fields["svg"])
