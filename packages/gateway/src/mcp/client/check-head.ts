import type { HeaderBlock } from '../../net/header-block.ts'

/** Why a request is refused before its body is read. */
export interface HeadRefusal {
  status: number
  text: string
}

/** `isLegacy`: the answer comes by another stream. */
export function checkPost(headers: HeaderBlock, isLegacy: boolean): HeadRefusal | null {
  if (!isLegacy && !accepts(headers, ['application/json', 'text/event-stream'])) {
    return { status: 406, text: 'Not Acceptable: the client must accept both application/json and text/event-stream' }
  }
  if (!/^application\/json\s*(;|$)/i.test(headers.get('content-type') ?? '')) {
    return { status: 415, text: 'Unsupported Media Type: the content type must be application/json' }
  }
  if (!/^(identity)?$/i.test(headers.joined('content-encoding') ?? '')) {
    return { status: 415, text: 'Unsupported Media Type: the message must not be compressed' }
  }
  return null
}

export function checkGet(headers: HeaderBlock): HeadRefusal | null {
  if (accepts(headers, ['text/event-stream'])) return null
  return { status: 406, text: 'Not Acceptable: the client must accept text/event-stream' }
}

function accepts(headers: HeaderBlock, types: readonly string[]): boolean {
  const ranges = (headers.joined('accept') ?? '')
    .toLowerCase()
    .split(',')
    .map((range) => range.split(';', 1)[0]!.trim())
  return types.every((type) => {
    const group = `${type.slice(0, type.indexOf('/'))}/*`
    return ranges.some((range) => range === type || range === group || range === '*/*')
  })
}
