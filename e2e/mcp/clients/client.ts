/** A client library, connected: the same few calls for all of them, with answers in short. */
export interface TestClient {
  /** Revision of the protocol that was agreed on. */
  revision: string
  instructions: string
  serverName: string
  /** Everything there is, all pages. */
  toolNames(): Promise<string[]>
  promptNames(): Promise<string[]>
  resourceUris(): Promise<string[]>
  templateUris(): Promise<string[]>
  /** The text that a tool gives; rejects when the call fails, also when the tool says so. */
  call(name: string, args?: Record<string, unknown>, options?: CallOptions): Promise<string>
  read(uri: string): Promise<string>
  prompt(name: string, args?: Record<string, string>): Promise<string>
  complete(prompt: string, argument: string, begun: string): Promise<string[]>
  /** Asks to be told of changes of lists. `take` gets methods of notifications. */
  watch(take: (method: string) => void): Promise<void>
  /** Ends the session, where there is one. */
  leave(): Promise<void>
  /** Goes away without a word. */
  close(): Promise<void>
}

interface CallOptions {
  signal?: AbortSignal
  onprogress?: (progress: { progress: number; total?: number }) => void
}

export interface Library {
  name: string
  connect(url: string): Promise<TestClient>
  /** Whether servers ask it within a call, or answer that they need input first. */
  isAsked: 'within the call' | 'between calls'
}

export const CLIENT = { name: 'test-client', version: '1.0.0' }

/** Responses of the user, the model and the roots of the client. */
export const ANSWERS = {
  roots: { roots: [{ uri: 'file:///home/test', name: 'home' }] },
  elicitation: { action: 'accept' as const, content: { username: 'ada', email: 'ada@example.com', name: 'Ada' } },
  sampling: { role: 'assistant' as const, content: { type: 'text' as const, text: 'Paris' }, model: 'test-model' },
}

/** Contents of results, as one text. */
export function textOf(contents: readonly Record<string, unknown>[]): string {
  return contents.map(({ text, ...rest }) => (typeof text === 'string' ? text : JSON.stringify(rest))).join('\n')
}
