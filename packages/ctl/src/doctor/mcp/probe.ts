/** The response to one request; `status` is 0 when there was none. */
export interface ProbeAnswer {
  /** The method and path of the request, in one line. */
  readonly sent: string
  readonly status: number
  /** The response in one line, without its body. */
  readonly came: string
  readonly challenge: string
  /** The body of the response as a JSON object; null when the body is no JSON object. */
  readonly json: Readonly<Record<string, unknown>> | null
  readonly contentType: string
}

/** Sends requests without credentials, and caches each response by its request. */
export class McpProbe {
  readonly #answers = new Map<string, Promise<ProbeAnswer>>()
  readonly #timeoutMs: number

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs
  }

  get(url: string): Promise<ProbeAnswer> {
    return this.#once(`GET ${url}`, url, { headers: { accept: 'application/json' } })
  }

  /** Sends the `initialize` request, with which every MCP client begins. */
  initialize(url: string): Promise<ProbeAnswer> {
    const params = {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'porticoctl-doctor', version: '1' },
    }
    return this.#once(`POST ${url} (initialize, without a token)`, url, {
      method: 'POST',
      headers: { accept: 'application/json, text/event-stream', 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }),
    })
  }

  #once(sent: string, url: string, init: RequestInit): Promise<ProbeAnswer> {
    const known = this.#answers.get(sent) ?? this.#send(sent, url, init)
    this.#answers.set(sent, known)
    return known
  }

  async #send(sent: string, url: string, init: RequestInit): Promise<ProbeAnswer> {
    const nothing = { sent, status: 0, challenge: '', json: null, contentType: '' }
    try {
      const response = await fetch(url, { ...init, signal: AbortSignal.timeout(this.#timeoutMs) })
      const contentType = response.headers.get('content-type') ?? ''
      const isJson = /[/+]json/i.test(contentType)
      const text = isJson ? await bodyOf(response) : ''
      if (!isJson) await response.body?.cancel()
      const shown = `${response.status}${contentType === '' ? '' : `, ${contentType}`}`
      return {
        ...{ sent, status: response.status, came: shown, contentType, json: objectIn(text) },
        challenge: response.headers.get('www-authenticate') ?? '',
      }
    } catch (error) {
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
      const { code, name } = cause as NodeJS.ErrnoException
      const why = name === 'TimeoutError' ? `no answer within ${this.#timeoutMs / 1000} s` : (code ?? name)
      return { ...nothing, came: why }
    }
  }
}

async function bodyOf(response: Response): Promise<string> {
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of response.body ?? []) {
    bytes += part.length
    if (bytes > MOST_BYTES) return ''
    parts.push(Buffer.from(part))
  }
  return Buffer.concat(parts).toString()
}

function objectIn(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null
  } catch {
    return null
  }
}

const MOST_BYTES = 262_144
