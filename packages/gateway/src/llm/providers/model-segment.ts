import { Unsupported } from '@portico/chat'

/** The model as one segment of a path. It comes from clients: nothing in it may lead elsewhere. */
export function modelSegment(model: string): string | Unsupported {
  if (model.length > MAX_LENGTH || !model.isWellFormed() || UNFIT.test(model)) return UNFIT_MODEL
  return encodeURIComponent(model).replace(LITERAL, (escape) => decodeURIComponent(escape))
}

const MAX_LENGTH = 512
/** Nothing, control characters, and segments that servers resolve. */
const UNFIT = /^$|[\0-\x1f\x7f]|(^|[/\\])\.{1,2}([/\\]|$)/
/** Legal in a segment, and part of names: `model:0`, `model@version`. */
const LITERAL = /%3A|%40|%2C|%3D|%2B/g
const UNFIT_MODEL = new Unsupported('model', 'must be the name of a model')
