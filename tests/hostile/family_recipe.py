"""Recipes that name code, or take the reader's time."""


def _with(sound, folder, text=None, more="", data=None):
    path = folder / "recipe.toml"
    content = (sound.recipe.read_text() if text is None else text) + more
    path.write_bytes(content.encode() if data is None else data)
    return ["check", str(path)]


def a_key_of_a_hundred_thousand_parts(sound, folder):
    return _with(sound, folder, more="\n[" + ".".join("a" * 100_000) + "]\n")


def a_key_of_quoted_parts(sound, folder):
    return _with(sound, folder, more="\n" + " . ".join(['"a"'] * 20_000) + " = 1\n")


def lists_nested_without_end(sound, folder):
    return _with(sound, folder, text="seeds = " + "[" * 9_000 + "]" * 9_000 + "\n")


def a_megabyte_of_remarks(sound, folder):
    return _with(sound, folder, text="# evil\n" * 200_000)


def ten_thousand_stages(sound, folder):
    return _with(sound, folder, more="".join(f'\n[[stages]]\nname = "s{k}"\n' for k in range(3_000)))


def a_method_that_is_code(sound, folder):
    return _with(sound, folder, more='methods = [{ use = "os.system" }]\n')


def a_task_that_is_a_path(sound, folder):
    return _with(sound, folder, text=sound.recipe.read_text().replace('"classification"', '"../../evil"'))


def an_import(sound, folder):
    return _with(sound, folder, text='import = "os"\n' + sound.recipe.read_text())


def a_number_of_ten_thousand_digits(sound, folder):
    return _with(sound, folder, text=f"seed = {'9' * 10_000}\n" + sound.recipe.read_text())


def bytes_that_are_no_text(sound, folder):
    return _with(sound, folder, data=b"\x80\x04\x95\x1e\x00\x00\x00cos\nsystem\n")
