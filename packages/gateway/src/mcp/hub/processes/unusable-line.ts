import { isObject, type Json, parseJson } from '@portico/http/json'
import type { RpcId } from '../../protocol.ts'

/**
 * Returns the ids of the responses in a line that the gateway rejects: a batch, bytes that are not UTF-8, or a duplicate
 * member name. Null when the line is not JSON-RPC, or has no response. Empty for a response whose id cannot be read.
 */
export function responsesIn(line: Buffer): RpcId[] | null {
  const text = line.toString('latin1')
  if (!/^\s*[[{]/.test(text) || !text.includes('"jsonrpc"')) return null
  const parsed = parseJson(line.toString('utf8'))
  if (parsed === null) return /"method"\s*:/.test(text) ? null : idsIn(text)
  const values = Array.isArray(parsed.value) ? parsed.value : [parsed.value]
  const responses = values.filter(isResponse)
  return responses.length === 0 ? null : responses.flatMap(({ id }) => (isId(id) ? [id] : []))
}

function isResponse(value: Json): value is { id?: Json } {
  return isObject(value) && value.method === undefined
}

function isId(value: Json | undefined): value is RpcId {
  return typeof value === 'string' || typeof value === 'number'
}

function idsIn(text: string): RpcId[] {
  const id = idAtEdge(text.slice(0, EDGE), text.slice(-EDGE).trimEnd())
  return id === null ? [] : [id]
}

/** Returns the id of a response when it is the first or last member, as libraries write it. */
export function idAtEdge(head: string, tail: string): RpcId | null {
  const found =
    /^\s*\{\s*"jsonrpc"\s*:\s*"2\.0"\s*,\s*"id"\s*:\s*(\d{1,15}|"[\w:.-]{1,128}")\s*,/.exec(head) ??
    /^\s*\{\s*"id"\s*:\s*(\d{1,15}|"[\w:.-]{1,128}")\s*,/.exec(head) ??
    /,\s*"id"\s*:\s*(\d{1,15}|"[\w:.-]{1,128}")\s*\}$/.exec(tail)
  return found === null ? null : (JSON.parse(found[1] ?? 'null') as RpcId)
}

const EDGE = 256
