import type { Type } from '../types.ts'
import { bool, bytes, double, duration, int, listOf, mapOf, nullType, parameter, scalar } from '../types.ts'
import { string, timestamp, typeType, uint } from '../types.ts'

/** The JSON form of a type in the official vectors. */
export interface JsonType {
  primitive?: string
  wellKnown?: string
  messageType?: string
  null?: null
  dyn?: object
  type?: object
  listType?: { elemType: JsonType }
  mapType?: { keyType: JsonType; valueType: JsonType }
  abstractType?: { name: string; parameterTypes?: JsonType[] }
  typeParam?: string
}

const named = new Map<string, Type>([
  ['BOOL', bool],
  ['INT64', int],
  ['UINT64', uint],
  ['DOUBLE', double],
  ['STRING', string],
  ['BYTES', bytes],
  ['TIMESTAMP', timestamp],
  ['DURATION', duration],
  ['google.protobuf.Timestamp', timestamp],
  ['google.protobuf.Duration', duration],
])

export function readType(json: JsonType): Type {
  const { listType, mapType, abstractType } = json
  if (json.null === null) return nullType
  if (listType !== undefined) return listOf(readType(listType.elemType))
  if (mapType !== undefined) return mapOf(readType(mapType.keyType), readType(mapType.valueType))
  if (abstractType !== undefined) {
    return [{ name: abstractType.name, of: (abstractType.parameterTypes ?? []).map(readType) }]
  }
  if (json.typeParam !== undefined) return parameter(json.typeParam)
  if (json.type !== undefined) return typeType
  return named.get(json.primitive ?? json.wellKnown ?? json.messageType ?? '') ?? 'dyn'
}

/** Maps our types to CEL's, which have no unions: a union is `dyn`, and null is any message, time or optional. */
export function asDeduced(type: Type): Type {
  if (type === 'dyn' || type.length === 0) return 'dyn'
  const [member, other] = type.length === 1 ? type : type.filter(({ name }) => name !== 'null_type')
  if (member === undefined || other !== undefined || member.name === 'dyn') return 'dyn'
  if (type.length > 1 && !NULLABLE.test(member.name)) return 'dyn'
  return member.of.length === 0 ? scalar(member.name) : [{ name: member.name, of: member.of.map(asDeduced) }]
}

const NULLABLE = /^google\.protobuf\.|^optional_type$/
