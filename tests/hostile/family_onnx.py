"""Graphs that point at other files, bring operators along, or make numbers out of nothing."""

import onnx
from onnx import TensorProto, helper

from hostile.sound import TEXT


def _spoilt(sound, folder, spoil):
    model = sound.copy("model", folder)
    path = model / "model.onnx"
    graph = onnx.load(path, load_external_data=False)
    spoil(graph)
    path.write_bytes(graph.SerializeToString())
    return ["predict", str(model), TEXT]


def _placed(sound, folder, key, value):
    """The first external table with one entry of its place changed."""

    def spoil(model):
        table = next(table for table in model.graph.initializer if table.external_data)
        for entry in table.external_data:
            if entry.key == key:
                entry.value = value

    return _spoilt(sound, folder, spoil)


def weights_above_the_folder(sound, folder):
    return _placed(sound, folder, "location", "../../secret")


def weights_at_an_absolute_place(sound, folder):
    return _placed(sound, folder, "location", "/etc/passwd")


def weights_in_the_tokenizer(sound, folder):
    return _placed(sound, folder, "location", "tokenizer.json")


def weights_behind_the_end(sound, folder):
    return _placed(sound, folder, "offset", str(1 << 45))


def weights_across_two_tensors(sound, folder):
    return _placed(sound, folder, "length", "3")


def operators_of_a_stranger(sound, folder):
    def spoil(model):
        model.opset_import.append(helper.make_opsetid("com.evil", 1))
        model.graph.node.append(helper.make_node("Run", ["logits"], ["x"], domain="com.evil"))

    return _spoilt(sound, folder, spoil)


def a_loop_without_end(sound, folder):
    body = helper.make_graph([], "body", [], [])
    return _spoilt(
        sound, folder, lambda model: model.graph.node.append(helper.make_node("Loop", ["", ""], ["x"], body=body))
    )


def a_table_of_terabytes_created_while_loading(sound, folder):
    def spoil(model):
        shape = helper.make_tensor("shape", TensorProto.INT64, [2], [10**7, 10**7])
        model.graph.initializer.append(shape)
        model.graph.node.append(helper.make_node("ConstantOfShape", ["shape"], ["x"]))

    return _spoilt(sound, folder, spoil)


def a_constant_in_another_file(sound, folder):
    def spoil(model):
        tensor = helper.make_tensor("c", TensorProto.FLOAT, [1], [1.0])
        tensor.ClearField("float_data")
        tensor.data_location = TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value="/etc/passwd")
        model.graph.node.append(helper.make_node("Constant", [], ["x"], value=tensor))

    return _spoilt(sound, folder, spoil)


def five_megabytes_of_remarks(sound, folder):
    def spoil(model):
        model.graph.doc_string = "evil " * 1_000_000

    return _spoilt(sound, folder, spoil)
