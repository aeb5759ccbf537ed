import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import type { Logger } from '../../../telemetry/log/logger.ts'
import { BadMessage, readMessage, type RpcId, type RpcMessage } from '../../protocol.ts'
import type { TargetFailure } from '../../transport.ts'
import type { ProcessSpec } from '../../hub.ts'
import { createConcealer, environmentFor } from './environment.ts'
import { MARK, markedProcesses } from './descendants.ts'
import { Lines, LongLine } from './lines.ts'
import { Stderr } from './stderr.ts'
import { idAtEdge, responsesIn } from './unusable-line.ts'

export interface ChildEvents {
  said(message: RpcMessage): void
  /** The program sent an oversized response or no JSON-RPC message; `id` is null if the request is not known. */
  sentUnusable(id: RpcId | null, failure: TargetFailure): void
  /** Called last, when the program has ended or could not be started. */
  ended(reason: string, wasStarted: boolean): void
}

/** One running program of a target, in its own process group, so that its descendants end with it. */
export class Child {
  /** Resolves when the program and its descendants have ended. */
  readonly gone: Promise<void>
  readonly startedAt = performance.now()
  readonly #spec: ProcessSpec
  readonly #log: Logger
  readonly #events: ChildEvents
  readonly #process: ChildProcess | null
  readonly #lines: Lines
  readonly #stderr: Stderr
  readonly #leave: () => void
  #cause: string | null = null
  #isStopping = false
  #isOver = false
  #badLines = 0
  #silence: NodeJS.Timeout | null = null
  /** Runs while a pipe is closed and the process has not ended. */
  #orphaned: NodeJS.Timeout | null = null
  /** Marks the environment of the program, and so of every descendant, to find them later. */
  readonly #mark = randomUUID()
  /** Process ids of descendants that left the process group of the program. */
  #strays: number[] = []

  /** `speaksFirst`: the program is started for a request that it answers at once, so the start timeout applies. */
  constructor(spec: ProcessSpec, log: Logger, events: ChildEvents, speaksFirst: boolean) {
    this.#spec = spec
    this.#log = log
    this.#events = events
    this.#lines = new Lines(spec.maxMessageBytes)
    const conceal = createConcealer(spec, process.env)
    this.#stderr = new Stderr({ log, name: spec.name, conceal, now: () => performance.now() })
    const gone = Promise.withResolvers<void>()
    this.gone = gone.promise
    this.#leave = gone.resolve
    this.#process = this.#spawn()
    if (this.#process !== null) this.#attend(this.#process)
    if (speaksFirst) this.#silence = setTimeout(() => this.#giveUp(), spec.startTimeoutMs).unref()
  }

  /** Writes a message to standard input; false when too many earlier bytes are unread, and `done` is then not called. */
  write(bytes: Buffer, done: (isWritten: boolean) => void): boolean {
    // `ended` will be called with the reason.
    if (this.#process === null) return true
    const { stdin } = this.#process
    if (!stdin?.writable || stdin.writableLength > MAX_UNREAD_BYTES) return false
    // One message is one line. JSON strings contain no raw line breaks, so those between tokens are replaced by spaces.
    const line = Buffer.allocUnsafe(bytes.length + 1)
    bytes.copy(line)
    for (let at = 0; at < bytes.length; at++) if (line[at] === LF || line[at] === CR) line[at] = SPACE
    line[bytes.length] = LF
    stdin.write(line, (error) => done(!error))
    return true
  }

  pause(): void {
    this.#process?.stdout?.pause()
  }

  resume(): void {
    this.#process?.stdout?.resume()
  }

  /** Closes standard input; then sends SIGTERM, and SIGKILL, to a program that keeps running. */
  stop(): void {
    const child = this.#process
    if (child === null || this.#isStopping || this.#isOver) return
    this.#isStopping = true
    child.stdin?.end()
    child.stdout?.resume()
    const timers = [
      setTimeout(() => this.#signal('SIGTERM'), EOF_MS),
      setTimeout(() => this.#signal('SIGKILL'), EOF_MS + TERM_MS),
    ]
    void this.gone.then(() => {
      for (const timer of timers) clearTimeout(timer)
    })
  }

  /** Sends SIGKILL at once, when the gateway itself exits. */
  kill(): void {
    this.#strays = markedProcesses(this.#mark)
    this.#signal('SIGKILL')
  }

  #spawn(): ChildProcess | null {
    const { cmd, args, cwd } = this.#spec
    try {
      const child = spawn(cmd, args, {
        env: { ...environmentFor(this.#spec, process.env), [MARK]: this.#mark },
        stdio: ['pipe', 'pipe', 'pipe'],
        shell: false,
        detached: true,
        windowsHide: true,
        ...(cwd !== null && { cwd }),
      })
      if (child.pid !== undefined) this.#log.debug('started', { target: this.#spec.name, pid: child.pid })
      return child
    } catch (error) {
      this.#cause = `it cannot be started: ${messageOf(error)}`
      queueMicrotask(() => {
        this.#end()
        this.#leave()
      })
      return null
    }
  }

  #attend(child: ChildProcess): void {
    child.on('error', (error) => {
      if (child.pid !== undefined) return
      this.#cause = `it cannot be started: ${messageOf(error)}`
      this.#end()
      this.#leave()
    })
    child.on('exit', (code, signal) => {
      if (child.pid === undefined) return
      this.#cause ??= signal === null ? `it ended with code ${code}` : `it was ended by ${signal}`
      this.#strays = markedProcesses(this.#mark)
      this.#sweep(child, 0)
    })
    child.on('close', () => this.#end())
    // A write error of a program that ends is reported through its exit.
    child.stdin?.on('error', () => this.#pipeClosed('input'))
    child.stdout?.on('error', () => {})
    child.stdout?.on('end', () => this.#pipeClosed('output'))
    child.stderr?.on('error', () => {})
    child.stdout?.on('data', (chunk: Buffer) => this.#read(chunk))
    child.stderr?.on('data', (chunk: Buffer) => this.#stderr.push(chunk))
  }

  #read(chunk: Buffer): void {
    if (this.#isStopping) return
    for (const line of this.#lines.push(chunk)) {
      if (line instanceof LongLine) this.#tooLong(line)
      else this.#readLine(line)
    }
    if (!this.#lines.isFlooded) return
    this.#cause = `it sent a line without an end, of more than ${this.#spec.maxMessageBytes} bytes`
    this.stop()
    this.#end()
  }

  #tooLong(line: LongLine): void {
    this.#hasSpoken()
    const message = `it sent a message of more than ${this.#spec.maxMessageBytes} bytes`
    this.#log.warn('a message is too large', { target: this.#spec.name, maxBytes: this.#spec.maxMessageBytes })
    this.#events.sentUnusable(idAtEdge(line.head, line.tail), { code: 'bad_answer', message })
  }

  /** Reports the start timeout at once, without waiting for the program to end. */
  #giveUp(): void {
    const said = this.#badLines > 0 ? 'nothing but lines that are not messages' : 'nothing'
    this.#cause ??= `it said ${said} within ${this.#spec.startTimeoutMs} ms of its start`
    this.stop()
    this.#end()
  }

  #readLine(line: Buffer): void {
    const message = readMessage(line)
    if (!(message instanceof BadMessage)) {
      this.#hasSpoken()
      return this.#events.said(message)
    }
    // Other output on standard output is logged and ignored.
    this.#badLines++
    if (this.#badLines <= MAX_REPORTED) {
      this.#log.warn('a line on standard output is not a message', { target: this.#spec.name, error: message.message })
    }
    const ids = responsesIn(line)
    if (ids === null) return
    // An unreadable response still ends its request, which would wait forever otherwise.
    const failure: TargetFailure = { code: 'bad_answer', message: `it sent an invalid message: ${message.message}` }
    for (const id of ids.length === 0 ? [null] : ids) this.#events.sentUnusable(id, failure)
  }

  /** Stops a program that closed a pipe, unless it exits within a moment: pipes close shortly before the exit. */
  #pipeClosed(pipe: string): void {
    if (this.#isOver || this.#isStopping || this.#orphaned !== null) return
    this.#orphaned = setTimeout(() => {
      this.#cause ??= `it closed its standard ${pipe}`
      this.stop()
      this.#end()
    }, PIPE_MS).unref()
  }

  /** Ends the descendants of the program, which must not outlive it or keep its pipes open. */
  #sweep(child: ChildProcess, waitedMs: number): void {
    // Zombies count as running, so the wait has a limit.
    if (!this.#signal(waitedMs === 0 ? 'SIGTERM' : waitedMs < TERM_MS ? 0 : 'SIGKILL') || waitedMs > 2 * TERM_MS) {
      return this.#leave()
    }
    if (waitedMs >= TERM_MS) {
      child.stdout?.destroy()
      child.stderr?.destroy()
    }
    setTimeout(() => this.#sweep(child, waitedMs + SWEEP_MS), SWEEP_MS)
  }

  /** Sends a signal to the program and its descendants; false when none is left. */
  #signal(signal: NodeJS.Signals | 0): boolean {
    const pid = this.#process?.pid
    if (pid === undefined) return false
    this.#strays = this.#strays.filter((stray) => send(stray, signal))
    return send(-pid, signal) || this.#strays.length > 0
  }

  #hasSpoken(): void {
    if (this.#silence !== null) clearTimeout(this.#silence)
    this.#silence = null
  }

  #end(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#hasSpoken()
    if (this.#orphaned !== null) clearTimeout(this.#orphaned)
    this.#stderr.end()
    const { lastLine } = this.#stderr
    const cause = this.#cause ?? 'it ended'
    const reason = lastLine === '' ? cause : `${cause}; last line on stderr: ${lastLine.slice(0, MAX_SHOWN)}`
    this.#log.debug('ended', { target: this.#spec.name, reason })
    this.#events.ended(reason, this.#process?.pid !== undefined)
  }
}

function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal)
  } catch {
    return false
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

const LF = 0x0a
const CR = 0x0d
const SPACE = 0x20
const MAX_UNREAD_BYTES = 16 * 1024 * 1024
const MAX_REPORTED = 10
const MAX_SHOWN = 256
const EOF_MS = 3_000
const TERM_MS = 2_000
const SWEEP_MS = 50
/** How long a program may take to end once a pipe is closed. */
const PIPE_MS = 1_000
