import { isUtf8 } from 'node:buffer'
import { isObject, parseJson } from '../../wire/json.ts'
import type { JsonObject } from '../middle.ts'
import { Unsupported } from '../middle.ts'
import { countMembers, findMembers, type JsonMembers } from '../../wire/json-members.ts'

/** A client's body: what it says, and where in its bytes each member at the top stands. */
export interface JsonBody extends JsonMembers {
  bytes: Buffer
  value: JsonObject
}

/**
 * Reads a body that may go on byte for byte. What the provider could read otherwise than the gateway is refused: bytes
 * that are no UTF-8, and names that stand twice in one object, wherever they are.
 */
export function readJsonBody(bytes: Buffer): JsonBody | Unsupported {
  if (!isUtf8(bytes)) return new Unsupported('body', 'must be UTF-8')
  const parsed = parseJson(bytes.toString('utf8'))
  if (parsed === null) return new Unsupported('body', 'must be JSON')
  const { value } = parsed
  const found = isObject(value) ? findMembers(bytes) : null
  if (found === null || !isObject(value)) return new Unsupported('body', 'must be a JSON object')
  if (countMembers(value) !== found.count) return new Unsupported(...twiceIn(found))
  return { ...found, bytes, value }
}

function twiceIn({ members }: JsonMembers): [field: string, message: string] {
  const names = members.map(({ name }) => name)
  const twin = names.find((name, at) => names.indexOf(name) !== at)
  return twin === undefined ? ['body', 'has an object with one name twice'] : [twin, 'stands in the body twice']
}
