import type { RpcMessage } from './message.ts'
import type { AnswerSink, LinkCall, TargetFailure } from './transport.ts'

/**
 * What the workers of one process hold together for MCP. The main thread keeps it, so that it survives a worker:
 * processes, streams that others must reach, and what became of sessions since their ids were sealed.
 */
export interface Hub {
  /** Sessions that were ended before their time; true for every worker once `revoke` has resolved. */
  isRevoked(session: string): boolean
  revoke(session: string, expiresAt: number): Promise<void>

  /** What a target calls a session since it was started anew; undefined when the sealed id still tells. */
  targetSession(session: string, target: string): string | undefined
  setTargetSession(session: string, target: string, name: string, expiresAt: number): void

  /** Takes mail under this address until the returned function is called. The newest listener gets it. */
  listen(address: string, take: (text: string) => void): () => void
  /** Resolves with whether somebody took it, whichever worker they are in. */
  send(address: string, text: string): Promise<boolean>

  /** Tells every worker that the backend offers something else: a target is back that lists were without. */
  announce(backend: string): void
  /** `told` hears of it, and of reloads that change what the backend offers, until the returned function is called. */
  whenChanged(backend: string, told: () => void): () => void

  /** A process of the config, for one session; started when it is not running yet. */
  process(spec: ProcessSpec, session: string): ProcessLink
}

/** A process as the config describes it; equal specs under one key are the same target. */
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
  /** Of one message that it sends. */
  maxMessageBytes: number
  /** Until its first message, where it is started for one that every program answers at once. */
  startTimeoutMs: number
  /** Until it has answered `initialize`, from its start. */
  beginTimeoutMs: number
}

/** A process as one session has it: a `TargetLink` without callers, of whom a process learns nothing. */
export interface ProcessLink {
  /** `initialize` starts it; other messages of revisions with sessions find it running, or the session is lost. */
  request(message: RpcMessage, answer: AnswerSink): LinkCall
  tell(message: RpcMessage, done: (failure: TargetFailure | null) => void): LinkCall
  listen(answer: AnswerSink): LinkCall
  end(): void
}
