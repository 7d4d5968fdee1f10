"""Files next to a tokenizer that name code, files or templates."""

from hostile.sound import TEXT, write


def code_by_auto_map(sound, folder):
    return sound.changed(folder, "tokenizer_config.json", auto_map={"AutoTokenizer": ["evil.Tokenizer", None]})


def a_class_that_is_not_known(sound, folder):
    return sound.changed(folder, "tokenizer_config.json", tokenizer_class="evil.EvilTokenizer")


def trusting_itself(sound, folder):
    return sound.changed(folder, "tokenizer_config.json", trust_remote_code=True)


def a_file_from_elsewhere(sound, folder):
    return sound.changed(folder, "tokenizer_config.json", tokenizer_file="../../../etc/passwd")


def a_format_from_elsewhere(sound, folder):
    return sound.changed(folder, "tokenizer_config.json", gguf_file="evil.gguf")


def a_program_as_a_template(sound, folder):
    return sound.changed(
        folder, "tokenizer_config.json", chat_template="{{ ''.__class__.__mro__[1].__subclasses__() }}"
    )


def a_program_as_a_file(sound, folder):
    model = sound.copy("model", folder)
    (model / "chat_template.jinja").write_text("{% for x in range(10**9) %}x{% endfor %}")
    return ["predict", str(model), TEXT]


def arguments_for_the_class(sound, folder):
    return sound.changed(folder, "tokenizer_config.json", init_inputs=["/etc/passwd"])


def a_mark_that_is_a_table(sound, folder):
    model = sound.copy("model", folder)
    write(model / "special_tokens_map.json", {"cls_token": {"content": "[CLS]", "__type": "os.system"}})
    return ["predict", str(model), TEXT]


def an_added_token_beyond_all_tables(sound, folder):
    model = sound.copy("model", folder)
    write(model / "added_tokens.json", {"<evil>": 10**12})
    return ["predict", str(model), TEXT]
