"""What is wrong with what a program sent, in words that never repeat it."""

from pydantic import ValidationError


def faults_of(fault: ValidationError) -> str:
    """Field by field, each once."""
    found: list[str] = []
    for error in fault.errors(include_url=False, include_input=False, include_context=False):
        where = ".".join(str(step) for step in error["loc"])
        match error["type"]:
            case "extra_forbidden":
                found.append("there is a field that is not known")
            case "json_invalid" | "model_type":
                found.append("the body must be a JSON object")
            case "string_pattern_mismatch" if where == "text":
                found.append("text: must not be blank")
            case _:
                found.append(f"{where}: {error['msg']}")
    return "; ".join(dict.fromkeys(found))
