"""`niwaki cloze MODEL...`."""


def test_faults_are_one_line(rejected, bert_folder):
    assert "there is no task" in rejected("cloze", bert_folder, "--tasks", "x", code=2)
    assert "language" in rejected("cloze", bert_folder, "--tasks", "negation", code=2)
