/** One session by hand, where a client library would be too much: a thousand of them, or requests that no library makes. */
export class RawSession {
  /** Another gateway may be asked the next time. */
  url: string
  id = ''
  /** Revision that the server answered with. */
  agreed = ''
  readonly #revision: string
  #last = 0

  constructor(url: string, revision = '2025-06-18') {
    this.url = url
    this.#revision = revision
  }

  /** False when the server has no room for another session. */
  async open(): Promise<boolean> {
    const response = await this.#post('initialize', {
      protocolVersion: this.#revision,
      capabilities: {},
      clientInfo: { name: 'raw', version: '1.0.0' },
    })
    const said = await response.text()
    this.id = response.headers.get('mcp-session-id') ?? ''
    if (!response.ok || this.id === '') return false
    this.agreed = /"protocolVersion":"([^"]*)"/.exec(said)?.[1] ?? ''
    if (this.agreed === '') return false
    const told = await this.#send({ jsonrpc: '2.0', method: 'notifications/initialized' })
    await told.text()
    return told.ok
  }

  /** The text that a tool gives. */
  async call(name: string, args: object = {}): Promise<string> {
    const response = await this.#post('tools/call', { name, arguments: args })
    const said = await response.text()
    const text = /"text":"((?:[^"\\]|\\.)*)"/.exec(said)?.[1]
    if (!response.ok || text === undefined) throw new Error(`${response.status} ${said}`)
    return text
  }

  #post(method: string, params: object): Promise<Response> {
    return this.#send({ jsonrpc: '2.0', id: ++this.#last, method, params })
  }

  #send(message: object): Promise<Response> {
    return fetch(this.url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(this.id !== '' && { 'mcp-session-id': this.id, 'mcp-protocol-version': this.#revision }),
      },
      body: JSON.stringify(message),
    })
  }
}
