import { brotliDecompressSync, gunzipSync, inflateSync, zstdDecompressSync } from 'node:zlib'
import { decodedBody } from '@portico/http'
import type { Failure } from '../../pipeline/context/failure.ts'
import type { UpstreamResponse } from '@portico/http/client'

/** Decodes the content encoding of a request body; an unsupported encoding or a malformed body is refused. */
export function decodeBody(bytes: Buffer, encoding: string | null, maxBytes: number): Buffer | Failure {
  if (encoding === null) return bytes
  const name = encoding.trim().toLowerCase()
  if (name === 'identity' || name === '') return bytes
  const decode = Object.hasOwn(decoders, name) ? decoders[name as keyof typeof decoders] : null
  if (decode === null) return refusal(415, `unsupported content encoding ${name}`)
  try {
    // A few bytes can decompress to gigabytes.
    return decode(bytes, { maxOutputLength: maxBytes })
  } catch (error) {
    const isTooLarge = error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE'
    return isTooLarge ? refusal(413, 'too large') : refusal(400, `the body is not ${name}`)
  }
}

/**
 * Decodes the content encoding of a response while it streams; null when the encoding is unsupported. Providers may
 * compress although the gateway asks for `identity`.
 */
export function decodedResponse(response: UpstreamResponse): UpstreamResponse | null {
  const encoding = response.headers.joined('content-encoding')
  if (encoding === null) return response
  const body = decodedBody(response.body, encoding)
  if (body === null) return null
  const headers = response.headers.clone()
  headers.remove('content-encoding')
  // An identity encoding keeps the length.
  if (body !== response.body) headers.remove('content-length')
  return { ...response, headers, body }
}

const decoders = {
  gzip: gunzipSync,
  'x-gzip': gunzipSync,
  deflate: inflateSync,
  br: brotliDecompressSync,
  zstd: zstdDecompressSync,
}

function refusal(status: number, why: string): Failure {
  return {
    status,
    message: `failed to process LLM request: ${why}`,
    reason: 'InvalidRequest',
    code: 'undecodable_body',
  }
}
