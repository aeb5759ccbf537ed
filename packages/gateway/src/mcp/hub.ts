import type { RpcMessage } from './protocol.ts'
import type { AnswerSink, LinkCall, TargetFailure } from './transport.ts'

/**
 * The MCP state that the workers of one gateway process share: stdio processes, streams that other workers must reach,
 * and changes of sessions since their ids were given out. The main thread holds the state, so it survives a worker.
 */
export interface Hub {
  /** Whether the session was ended before it expired; true in every worker once `revoke` has resolved. */
  isRevoked(session: string): boolean
  revoke(session: string, expiresAt: number): Promise<void>

  /** Returns the target's current session id; undefined while the one in the sealed session id is valid. */
  targetSession(session: string, target: string): string | undefined
  setTargetSession(session: string, target: string, name: string, expiresAt: number): void

  /** Receives texts sent to this address until the returned function is called. Only the newest listener gets them. */
  listen(address: string, take: (text: string) => void): () => void
  /** Sends a text to an address in any worker; resolves with whether a listener took it. */
  send(address: string, text: string): Promise<boolean>

  /** Announces to every worker that the lists of the backend changed, because a lost target has recovered. */
  announce(backend: string): void
  /** Calls `told` after announcements and reloads that change the backend's lists, until the returned function is called. */
  whenChanged(backend: string, told: () => void): () => void

  /** Returns the link of one session to a stdio process; the process starts with the first message. */
  process(spec: ProcessSpec, session: string): ProcessLink
}

/** A stdio process of the config; equal specs under one key are the same target. */
export interface ProcessSpec {
  /** Key of the target's IR resource. */
  key: string
  /** Name of the target, for logs. */
  name: string
  cmd: string
  args: readonly string[]
  env: Readonly<Record<string, string>>
  clearEnv: boolean
  cwd: string | null
  processes: 'PerSession' | 'Shared'
  maxProcesses: number
  idleTimeoutMs: number
  /** The longest message of the process. */
  maxMessageBytes: number
  /** The time limit for the first output of a process that was started to answer a request. */
  startTimeoutMs: number
  /** The time from the start of the process until its response to `initialize`. */
  beginTimeoutMs: number
}

/** The link of one session to a process: a `TargetLink` without callers, because processes get no headers. */
export interface ProcessLink {
  /** Sends a request. `initialize` starts the process; in revisions with sessions, other requests fail with `session_lost` if it is not running. */
  request(message: RpcMessage, answer: AnswerSink): LinkCall
  tell(message: RpcMessage, done: (failure: TargetFailure | null) => void): LinkCall
  listen(answer: AnswerSink): LinkCall
  end(): void
}
