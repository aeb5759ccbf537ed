import { isObject } from '@portico/http/json'
import { MESH_MARK } from '@portico/http/text'
import type { IrChange, ListChange } from '../ir/change.ts'
import type { Ir } from '../ir/resources.ts'
import type { QuarantinedResource } from '../ir/quarantine.ts'
import { ENDPOINT_PARTS } from './endpoint-parts.ts'
import { type HashedIr, IR_LISTS } from './hashes.ts'
import type { ConfigMessage, ControllerMessage, DataPlaneMessage, EndpointsMessage, Have } from './messages.ts'
import { StreamFault } from './stream-fault.ts'

/** Reads a line of a controller; throws a `StreamFault` for a config or addresses that are not fully understood. */
export function readControllerLine(line: string): ControllerMessage {
  const message = readObject(line)
  switch (message['type']) {
    case 'config':
      return readConfig(message)
    case 'endpoints':
      return readEndpoints(message)
    case 'ping':
      return { type: 'ping' }
    case 'goodbye':
      return { type: 'goodbye', reason: text(message['reason'], 'reason', 1_000) }
    default:
      throw new StreamFault('unknown message type')
  }
}

/**
 * Reads a line of a data plane; throws a `StreamFault` for an invalid line. Unknown fields are ignored: they only
 * describe the data plane, which during an upgrade may be newer than its controller.
 */
export function readDataPlaneLine(line: string): DataPlaneMessage {
  const message = readObject(line)
  switch (message['type']) {
    case 'hello':
      return {
        type: 'hello',
        gateway: gatewayName(message['gateway']),
        instance: text(message['instance'], 'instance', 253),
        version: text(message['version'], 'version', 100),
        have: message['have'] === null ? null : readHave(message['have']),
        endpoints: readEndpointHashes(message['endpoints'] ?? null),
      }
    case 'ack':
      return {
        type: 'ack',
        generation: hash(message['generation'], 'generation'),
        ...(message['quarantined'] !== undefined && { quarantined: readQuarantined(message['quarantined']) }),
      }
    case 'nack':
      return {
        type: 'nack',
        generation: hash(message['generation'], 'generation'),
        problems: texts(message['problems'], 'problems', 1_000, 10_000),
      }
    case 'health': {
      const { serving } = message
      if (typeof serving !== 'boolean') throw new StreamFault('serving: expected true or false')
      return { type: 'health', serving }
    }
    case 'pong':
      return { type: 'pong' }
    default:
      if (typeof message['type'] === 'string') return { type: 'unknown' }
      throw new StreamFault('unknown message type')
  }
}

function readQuarantined(value: unknown): QuarantinedResource[] {
  return list(value, 'quarantined').map((each) => {
    const found = fields(each, 'quarantined')
    return {
      object: text(found['object'], 'object', 10_000),
      problem: text(found['problem'], 'problem', 10_000),
      units: texts(found['units'], 'units', 1_000, 10_000),
    }
  })
}

function readConfig(message: Fields): ConfigMessage {
  only(message, ['type', 'generation', 'base', 'change'])
  const change = fields(message['change'], 'change')
  only(change, IR_LISTS)
  for (const name of IR_LISTS) checkListChange(change[name], name)
  return {
    type: 'config',
    generation: hash(message['generation'], 'generation'),
    base: message['base'] === null ? null : hash(message['base'], 'base'),
    change: change as unknown as IrChange,
  }
}

function checkListChange(value: unknown, name: keyof Ir): asserts value is ListChange<Ir[keyof Ir][number]> {
  const change = fields(value, name)
  only(change, ['put', 'drop'])
  const keys = new Set(texts(change['drop'], `${name}.drop`))
  for (const each of list(change['put'], `${name}.put`)) {
    const put = fields(each, `${name}.put`)
    only(put, ['resource', 'after'])
    const key = text(fields(put['resource'], `${name}.put`)['key'], `a key of ${name}`)
    if (keys.has(key)) throw new StreamFault(`${name} has a key twice`)
    keys.add(key)
    if (put['after'] !== null) text(put['after'], `${name}.put.after`)
  }
}

function readEndpoints(message: Fields): EndpointsMessage {
  only(message, ['type', 'whole', 'parts', 'put', 'drop'])
  const { whole, parts } = message
  if (typeof whole !== 'boolean') throw new StreamFault('whole: expected true or false')
  const put = list(message['put'], 'put').map((each): [string, string[]] => {
    const [key, addresses, ...more] = list(each, 'put')
    if (more.length > 0) throw new StreamFault('put: expected a key and addresses')
    const found = texts(addresses, 'addresses', 100_000, 1_700)
    if (!found.every((address) => ADDRESS.test(address))) throw new StreamFault('addresses: expected IP:port')
    return [text(key, 'put'), found]
  })
  const drop = texts(message['drop'], 'drop')
  return { type: 'endpoints', whole, ...(parts !== undefined && { parts: readParts(parts, whole) }), put, drop }
}

function readParts(value: unknown, whole: boolean): number[] {
  const found = list(value, 'parts')
  if (!whole) throw new StreamFault('parts: allowed only when whole is true')
  return found.map((part) => {
    if (typeof part !== 'number' || !Number.isInteger(part) || part < 0 || part >= ENDPOINT_PARTS) {
      throw new StreamFault('parts: expected part numbers')
    }
    return part
  })
}

function readEndpointHashes(value: unknown): string[] | null {
  if (value === null) return null
  const found = list(value, 'endpoints').map((each) => hash(each, 'endpoints'))
  // The data plane uses another number of parts, so the controller sends all addresses.
  return found.length === ENDPOINT_PARTS ? found : null
}

/**
 * Returns null for a config with unknown lists: no change can be relative to it, so the controller sends the whole
 * config.
 */
function readHave(value: unknown): Have | null {
  const have = fields(value, 'have')
  const hashes = fields(have['hashes'], 'hashes')
  if (!hasOnly(hashes, IR_LISTS)) return null
  const lists = IR_LISTS.map((name) => {
    const entries = list(hashes[name], name).map((each) => {
      const [key, of, ...more] = list(each, name)
      if (more.length > 0) throw new StreamFault(`${name}: expected keys and hashes`)
      return [text(key, `a key of ${name}`), hash(of, `a hash of ${name}`)] as const
    })
    return [name, entries] as const
  })
  return {
    generation: hash(have['generation'], 'generation'),
    hashes: Object.fromEntries(lists) as Record<keyof Ir, [string, string][]> satisfies HashedIr,
  }
}

type Fields = Readonly<Record<string, unknown>>

function readObject(line: string): Fields {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    throw new StreamFault('a line is not JSON')
  }
  return fields(value, 'a message')
}

function fields(value: unknown, name: string): Fields {
  if (!isObject(value)) {
    throw new StreamFault(`${name}: expected an object`)
  }
  return value
}

/** Rejects unknown fields, because an unknown field may change the meaning of the others. */
function only(found: Fields, known: readonly string[]): void {
  if (!hasOnly(found, known)) throw new StreamFault('unknown field')
}

function hasOnly(found: Fields, known: readonly string[]): boolean {
  return Object.keys(found).every((key) => known.includes(key))
}

function list(value: unknown, name: string): unknown[] {
  if (!Array.isArray(value)) throw new StreamFault(`${name}: expected a list`)
  return value
}

function text(value: unknown, name: string, most = 10_000): string {
  if (typeof value !== 'string' || value.length > most) throw new StreamFault(`${name}: expected a text`)
  return value
}

function texts(value: unknown, name: string, most = Infinity, longest = 10_000): string[] {
  const found = list(value, name)
  if (found.length > most) throw new StreamFault(`${name}: more than ${most}`)
  return found.map((each) => text(each, name, longest))
}

function hash(value: unknown, name: string): string {
  const found = text(value, name)
  if (!/^[\w-]{22}$/.test(found)) throw new StreamFault(`${name}: expected a hash`)
  return found
}

function gatewayName(value: unknown): string {
  const found = text(value, 'gateway', 600)
  // Gateways that share a data plane by GwParameters have a name such as `infra/merged:edge`.
  if (!/^[a-z0-9.-]+\/(merged:)?[a-z0-9.-]+$/.test(found)) throw new StreamFault('gateway: expected namespace/name')
  return found
}

/** Addresses in the format of `@portico/http/client`: `10.0.0.7:8080`, `[fd00::7]:8080`. */
const ADDRESS = new RegExp(`^(\\d{1,3}(\\.\\d{1,3}){3}|\\[[0-9a-fA-F:.]+\\]):\\d{1,5}${MESH_MARK}$`)
