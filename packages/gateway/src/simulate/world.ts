import type { HeaderBlock } from '@portico/http'

/** The surroundings of a simulated gateway: everything that the config does not decide. */
export interface World {
  /** Wall-clock time at the start, in milliseconds since 1970. */
  clock: number
  /** Seed of the random source. */
  seed: number
  /** Environment variables of the gateway, for cloud credentials. */
  env: Readonly<Record<string, string | undefined>>
  /**
   * The addresses of host names. A name with an empty list fails to resolve. A name without an entry is its own
   * address, unless an address guard has to judge the name.
   */
  hosts: Readonly<Record<string, readonly string[]>>
  /**
   * Returns the simulated upstream at an address; null when the simulated world has none. `address` is `host:port`,
   * `unix:` with a path, or `stdio:` with the name of an MCP target that is a program.
   */
  upstream(address: string): Upstream | null
}

/** One server of the world. */
export interface Upstream {
  /** Why connections fail; null when the server accepts them. */
  readonly refusal: string | null
  /** Whether the server accepts HTTP/2 over TLS. */
  readonly speaksHttp2: boolean
  /** Answers a request; null when the world does not say how. */
  answer(request: UpstreamMessage): WorldReply | null
}

/** A request that the gateway sent to an upstream. */
export interface UpstreamMessage {
  /** The address of the upstream: `host:port`, `unix:` with a path, or `stdio:` with the name of an MCP target. */
  readonly address: string
  readonly scheme: 'http' | 'https'
  readonly version: string
  readonly method: string
  /** Host or `:authority`. */
  readonly authority: string
  /** Path and query. */
  readonly target: string
  /** Headers without Host, framing and hop-by-hop fields. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: Buffer
}

/** The response of an upstream. */
export interface WorldReply {
  readonly status: number
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: Buffer
  readonly trailers: readonly (readonly [name: string, value: string])[] | null
  /** Milliseconds until the response begins. */
  readonly delayMs: number
  /** `reset` breaks the connection instead of a response; `silent` never responds. */
  readonly fault: 'reset' | 'silent' | null
}

/** Something that a simulation cannot know. A result that depends on it proves nothing. */
export interface Unknown {
  readonly kind: 'upstream' | 'name' | 'answer' | 'token' | 'process' | 'listener'
  /** The address or the name that the test does not describe; for a program, its target and its command. */
  readonly of: string
  /** How many requests the gateway had sent before. */
  readonly after: number
}

/** Returns the lines of a header block. */
export function linesOf(headers: HeaderBlock): [name: string, value: string][] {
  const lines: [string, string][] = []
  headers.forEach((name, value) => void lines.push([name.toLowerCase(), value]))
  return lines
}
