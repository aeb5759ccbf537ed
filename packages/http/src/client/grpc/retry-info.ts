import { BinaryReader, WireType } from '@bufbuild/protobuf/wire'

/** Returns the retry delay in milliseconds from `google.rpc.RetryInfo` in the details of a status. */
export function readRetryInfo(details: string | null): number | null {
  if (details === null) return null
  let found: number | null = null
  try {
    readField(Buffer.from(details, 'base64'), 3, (any) => {
      let type = ''
      readField(any, 1, (name) => (type = Buffer.from(name).toString()))
      if (type.endsWith('/google.rpc.RetryInfo')) readField(any, 2, (info) => (found = readDelay(info)))
    })
  } catch {
    return null
  }
  return found
}

/** A missing delay is a delay of zero. */
function readDelay(info: Uint8Array): number {
  let milliseconds = 0
  readField(info, 1, (duration) => {
    const reader = new BinaryReader(duration)
    while (reader.pos < reader.len) {
      const [field, type] = reader.tag()
      if (type !== WireType.Varint) reader.skip(type)
      else milliseconds += Number(reader.int64()) * (field === 1 ? 1000 : field === 2 ? 1e-6 : 0)
    }
  })
  return Math.max(0, milliseconds)
}

/** Calls `take` for every length-delimited field of that number. */
function readField(message: Uint8Array, number: number, take: (bytes: Uint8Array) => void): void {
  const reader = new BinaryReader(message)
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag()
    if (field === number && type === WireType.LengthDelimited) take(reader.bytes())
    else reader.skip(type)
  }
}
