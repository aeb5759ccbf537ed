import { randomUUID } from 'node:crypto'
import {
  type EventStore,
  isInitializeRequest,
  type JSONRPCMessage,
  type McpServer,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'

/** The sessions of revisions that have them, each with a server and a memory of what was said. */
export class Sessions {
  readonly #build: () => McpServer
  readonly #transports = new Map<string, WebStandardStreamableHTTPServerTransport>()

  constructor(build: () => McpServer) {
    this.#build = build
  }

  get size(): number {
    return this.#transports.size
  }

  /** Loses a session, or all of them, without telling anybody. */
  forget(id?: string): void {
    if (id === undefined) this.#transports.clear()
    else this.#transports.delete(id)
  }

  fetch = async (request: Request): Promise<Response> => {
    const id = request.headers.get('mcp-session-id')
    if (id !== null) {
      const transport = this.#transports.get(id)
      return transport === undefined ? refuse(404, -32_001, 'Session not found') : transport.handleRequest(request)
    }
    const parsedBody: unknown = request.method === 'POST' ? await readJson(request) : null
    if (!isInitializeRequest(parsedBody)) return refuse(400, -32_000, 'Bad Request: no session')
    const transport = await this.#open()
    return transport.handleRequest(request, { parsedBody })
  }

  async close(): Promise<void> {
    await Promise.all([...this.#transports.values()].map((transport) => transport.close()))
  }

  async #open(): Promise<WebStandardStreamableHTTPServerTransport> {
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      eventStore: new MemoryEventStore(),
      retryInterval: 100,
      onsessioninitialized: (id) => void this.#transports.set(id, transport),
      onsessionclosed: (id) => void this.#transports.delete(id),
    })
    await this.#build().connect(transport)
    return transport
  }
}

/** The messages on the streams of one session. */
class MemoryEventStore implements EventStore {
  readonly #events: { id: string; stream: string; message: JSONRPCMessage }[] = []

  async storeEvent(stream: string, message: JSONRPCMessage): Promise<string> {
    const id = `${stream}_${this.#events.length}`
    this.#events.push({ id, stream, message })
    return id
  }

  async getStreamIdForEventId(eventId: string): Promise<string | undefined> {
    return this.#events.find(({ id }) => id === eventId)?.stream
  }

  async replayEventsAfter(
    lastEventId: string,
    { send }: { send: (id: string, message: JSONRPCMessage) => Promise<void> },
  ): Promise<string> {
    const seen = this.#events.findIndex(({ id }) => id === lastEventId)
    const stream = this.#events[seen]?.stream ?? ''
    for (const event of this.#events.slice(seen + 1)) {
      // An event that only marks where a stream begins says nothing.
      if (event.stream === stream && 'jsonrpc' in event.message) await send(event.id, event.message)
    }
    return stream
  }
}

async function readJson(request: Request): Promise<unknown> {
  try {
    return await request.clone().json()
  } catch {
    return null
  }
}

function refuse(status: number, code: number, message: string): Response {
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status })
}
