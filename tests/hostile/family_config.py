"""Configs that steer what is loaded, or describe what no memory holds."""

from hostile.sound import Sound


def code_by_auto_map(sound, folder):
    return sound.changed(folder, "config.json", auto_map={"AutoModel": "evil--modeling.Evil"})


def code_by_trusting_itself(sound, folder):
    return sound.changed(folder, "config.json", trust_remote_code=True)


def a_kernel_of_the_hub(sound, folder):
    return sound.changed(folder, "config.json", attn_implementation="evil/attention-kernel")


def a_kernel_by_its_private_name(sound, folder):
    return sound.changed(folder, "config.json", _attn_implementation_internal="evil/attention-kernel")


def a_kernel_inside_a_nested_config(sound, folder):
    inner = {"model_type": "bert", "auto_map": {"AutoConfig": "evil.Config"}, "_experts_implementation": "evil/kernel"}
    return sound.changed(folder, "config.json", text_config=inner)


def weights_from_another_file(sound, folder):
    return sound.changed(folder, "config.json", transformers_weights="../../pytorch_model.bin")


def a_format_with_classes_of_its_own(sound, folder):
    return sound.changed(folder, "config.json", quantization_config={"quant_method": "evil"})


def a_model_as_wide_as_a_planet(sound, folder):
    return sound.changed(folder, "config.json", hidden_size=10**13)


def a_billion_layers(sound, folder):
    return sound.changed(folder, "config.json", num_hidden_layers=10**9)


def labels_that_command_the_terminal(sound: Sound, folder):
    return sound.changed(folder, "config.json", id2label={"0": "\x1b]0;owned\x07\x1b[2J", "1": "good"})
