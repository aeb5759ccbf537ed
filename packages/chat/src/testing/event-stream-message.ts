import { crc32 } from 'node:zlib'

/** Messages of AWS event streams, as a fake provider sends them. */

export function eventStreamMessage(headers: Buffer, payload: Buffer): Buffer {
  const message = Buffer.alloc(16 + headers.length + payload.length)
  message.writeUInt32BE(message.length, 0)
  message.writeUInt32BE(headers.length, 4)
  message.writeUInt32BE(crc32(message.subarray(0, 8)), 8)
  headers.copy(message, 12)
  payload.copy(message, 12 + headers.length)
  message.writeUInt32BE(crc32(message.subarray(0, -4)), message.length - 4)
  return message
}

export function textHeader(name: string, value: string): Buffer {
  const nameBytes = Buffer.from(name)
  const valueBytes = Buffer.from(value)
  const head = Buffer.from([nameBytes.length, ...nameBytes, 7, valueBytes.length >> 8, valueBytes.length & 0xff])
  return Buffer.concat([head, valueBytes])
}

/** An event of a modelled stream: `:event-type` names it, the payload is JSON. */
export function eventMessage(type: string, payload: unknown): Buffer {
  return jsonMessage(textHeader(':message-type', 'event'), textHeader(':event-type', type), payload)
}

export function exceptionMessage(type: string, payload: unknown): Buffer {
  return jsonMessage(textHeader(':message-type', 'exception'), textHeader(':exception-type', type), payload)
}

function jsonMessage(kind: Buffer, type: Buffer, payload: unknown): Buffer {
  const headers = Buffer.concat([type, textHeader(':content-type', 'application/json'), kind])
  return eventStreamMessage(headers, Buffer.from(JSON.stringify(payload)))
}
