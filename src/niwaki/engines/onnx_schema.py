"""Reads ONNX files with protobuf alone, so that prediction needs no onnx package (31 MB).

Only the messages that `graph_rules` examines are described. Parts whose presence is enough to reject a graph (subgraphs,
functions, sparse tensors) are read as bytes, which have the same encoding.
"""

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from google.protobuf.message import Message
    from onnx import ModelProto, TensorProto

# message → "number name type", with * for repeated fields, as in onnx.proto
MESSAGES = {
    "StringStringEntryProto": "1 key string, 2 value string",
    "OperatorSetIdProto": "1 domain string, 2 version int64",
    "ValueInfoProto": "1 name string, 2 type bytes, 3 doc_string string, 4 metadata_props bytes*",
    "TensorProto": (
        "1 dims int64*, 2 data_type int32, 3 segment bytes, 4 float_data float*, 5 int32_data int32*, 6 string_data bytes*, "
        "7 int64_data int64*, 8 name string, 9 raw_data bytes, 10 double_data double*, 11 uint64_data uint64*, "
        "12 doc_string string, 13 external_data StringStringEntryProto*, 14 data_location int32, 16 metadata_props bytes*"
    ),
    "AttributeProto": (
        "1 name string, 2 f float, 3 i int64, 4 s bytes, 5 t TensorProto, 6 g bytes, 7 floats float*, 8 ints int64*, "
        "9 strings bytes*, 10 tensors TensorProto*, 11 graphs bytes*, 13 doc_string string, 14 tp bytes, 15 type_protos bytes*, "
        "20 type int32, 21 ref_attr_name string, 22 sparse_tensor bytes, 23 sparse_tensors bytes*"
    ),
    "NodeProto": (
        "1 input string*, 2 output string*, 3 name string, 4 op_type string, 5 attribute AttributeProto*, 6 doc_string string, "
        "7 domain string, 8 overload string, 9 metadata_props bytes*, 10 device_configurations bytes*"
    ),
    "GraphProto": (
        "1 node NodeProto*, 2 name string, 5 initializer TensorProto*, 10 doc_string string, 11 input ValueInfoProto*, "
        "12 output ValueInfoProto*, 13 value_info ValueInfoProto*, 14 quantization_annotation bytes*, "
        "15 sparse_initializer bytes*, 16 metadata_props bytes*"
    ),
    "ModelProto": (
        "1 ir_version int64, 2 producer_name string, 3 producer_version string, 4 domain string, 5 model_version int64, "
        "6 doc_string string, 7 graph GraphProto, 8 opset_import OperatorSetIdProto*, 14 metadata_props bytes*, "
        "20 training_info bytes*, 25 functions bytes*, 26 configuration bytes*"
    ),
}
# data_type → its numbers in raw_data, and the field that has them otherwise
NUMBERS = {
    1: ("<f4", "float_data"),
    2: ("<u1", "int32_data"),
    3: ("<i1", "int32_data"),
    4: ("<u2", "int32_data"),
    5: ("<i2", "int32_data"),
    6: ("<i4", "int32_data"),
    7: ("<i8", "int64_data"),
    9: ("<u1", "int32_data"),
    11: ("<f8", "double_data"),
    12: ("<u4", "uint64_data"),
    13: ("<u8", "uint64_data"),
}


def parse_model(data: bytes) -> "ModelProto":
    """The model in a file's bytes; ValueError if they are not ONNX."""
    from google.protobuf.message import DecodeError

    try:
        return _model_class().FromString(data)
    except DecodeError:
        raise ValueError("cannot be read, it is damaged or cut short") from None


def numbers_of(tensor: "TensorProto") -> np.ndarray:
    """The numbers of a tensor inside the graph, in one dimension; ValueError if it has none."""
    if tensor.data_type not in NUMBERS:
        raise ValueError(f"a shape consists of numbers, and not of data type {tensor.data_type}")
    kind, field = NUMBERS[tensor.data_type]
    raw: bytes = tensor.raw_data
    found = np.frombuffer(raw, dtype=kind) if raw else np.array(getattr(tensor, field))
    if not np.isfinite(found).all():
        raise ValueError("a shape contains a number that is not finite")
    return found


@cache
def _model_class() -> "type[Message]":
    """The class of ModelProto, in a pool of its own: the onnx package may be imported as well."""
    from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto
    from google.protobuf.descriptor_pool import DescriptorPool
    from google.protobuf.message_factory import GetMessageClass

    file = FileDescriptorProto(name="niwaki_onnx.proto", package="onnx", syntax="proto2")
    for message, fields in MESSAGES.items():
        described = file.message_type.add(name=message)
        for text in fields.split(", "):
            number, name, kind = text.split()
            kind, repeated = kind.removesuffix("*"), kind.endswith("*")
            field = described.field.add(name=name, number=int(number))
            field.label = FieldDescriptorProto.LABEL_REPEATED if repeated else FieldDescriptorProto.LABEL_OPTIONAL
            if kind in MESSAGES:
                field.type, field.type_name = FieldDescriptorProto.TYPE_MESSAGE, f".onnx.{kind}"
            else:
                field.type = getattr(FieldDescriptorProto, f"TYPE_{kind.upper()}")
    pool = DescriptorPool()
    pool.AddSerializedFile(file.SerializeToString())
    return GetMessageClass(pool.FindMessageTypeByName("onnx.ModelProto"))
