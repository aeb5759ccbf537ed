import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { createParser } from 'eventsource-parser'
import { printable } from '../printable.ts'
import type { AdminAddress } from './admin-address.ts'
import { LAST_TYPE, parseEvent, type TraceEvent } from './event.ts'
import { connectionOf } from './connection-of.ts'
import { refusalProblem, unreachableProblem } from './problems.ts'

export interface ArmOptions {
  readonly admin: AdminAddress
  readonly token: string | null
  /** A CEL expression that selects the request; null selects the next one. */
  readonly expression: string | null
  readonly onEvent: (event: TraceEvent) => void
  readonly signal: AbortSignal
  /** The time limit for arming; workers answer at once. */
  readonly readyWithinMs?: number
}

export type ArmResult =
  | {
      readonly ok: true
      readonly ended: Promise<StreamEnd>
      readonly close: () => void
      /** Problems of gateways that failed, when others succeeded. */
      readonly problems: readonly string[]
    }
  | { readonly ok: false; readonly problem: string; readonly isExpressionRefused: boolean }

export type StreamEnd =
  | { readonly kind: 'finished' }
  | { readonly kind: 'broken'; readonly problem: string }
  /** Stopped by `close` or the signal. */
  | { readonly kind: 'stopped' }

const READY_WITHIN_MS = 10_000
/** The largest event; typical events have a few kilobytes. */
const MAX_EVENT_CHARACTERS = 16 * 1024 * 1024
const MAX_REFUSAL_BYTES = 4096

/** Arms the gateway for one request; resolves when every worker watches, or with the reason of a failure. */
export function arm(options: ArmOptions): Promise<ArmResult> {
  const { admin, token, expression, signal, readyWithinMs = READY_WITHIN_MS } = options
  return new Promise((resolve) => {
    const rejectWith = (problem: string, isExpressionRefused = false) => {
      resolve({ ok: false, problem, isExpressionRefused })
      call.destroy()
    }
    const fail = async (error: NodeJS.ErrnoException) =>
      rejectWith((await admin.explain?.()) ?? unreachableProblem(admin, error))
    const call = request({
      ...connectionOf(admin),
      method: 'POST',
      path: `/debug/trace${expression === null ? '' : `?expression=${encodeURIComponent(expression)}`}`,
      headers: {
        accept: 'text/event-stream',
        ...('socketPath' in admin.connect ? { host: 'localhost' } : {}),
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      },
      signal,
    })
    const late = setTimeout(
      () =>
        rejectWith(`${admin.label} accepts the connection but does not respond: is it the admin address of Portico?`),
      readyWithinMs,
    )
    // The stream reports errors that occur after the response began.
    call.on('error', (error: NodeJS.ErrnoException) => void fail(error))
    call.on('close', () => clearTimeout(late))
    call.on('response', (response) => {
      if (response.statusCode === 200 && isEventStream(response)) {
        follow({ call, response, options }, (armed) => {
          clearTimeout(late)
          resolve(armed)
        })
      } else {
        void readText(response).then((text) =>
          rejectWith(refusalProblem({ admin, token, response, text }), response.statusCode === 400),
        )
      }
    })
    call.end()
  })
}

interface Stream {
  call: ClientRequest
  response: IncomingMessage
  options: ArmOptions
}

function follow({ call, response, options }: Stream, onArmed: (armed: ArmResult) => void): void {
  const { admin, onEvent, signal } = options
  let isArmed = false
  let isOver = false
  const { promise: ended, resolve: end } = Promise.withResolvers<StreamEnd>()
  const finish = (ending: StreamEnd) => {
    if (isOver) return
    isOver = true
    end(ending)
    if (!isArmed) {
      const problem = ending.kind === 'broken' ? ending.problem : `stopped before ${admin.label} was ready`
      onArmed({ ok: false, problem, isExpressionRefused: false })
    }
    call.destroy()
  }
  const broken = (problem: string) => finish({ kind: 'broken', problem })
  const parser = createParser({
    maxBufferSize: MAX_EVENT_CHARACTERS,
    onComment(comment) {
      if (isArmed || comment.trim() !== 'ready') return
      isArmed = true
      onArmed({ ok: true, ended, close: () => finish({ kind: 'stopped' }), problems: [] })
    },
    onEvent({ data }) {
      if (isOver) return
      const event = parseEvent(data)
      if (event === null) {
        broken(`${admin.label} sent an invalid trace event: ${printable(data.slice(0, 80))}`)
        return
      }
      onEvent(event)
      if (event.type === LAST_TYPE) finish({ kind: 'finished' })
    },
    onError(error) {
      if (error.type === 'max-buffer-size-exceeded') broken(`${admin.label} sent an event that is too large`)
    },
  })
  response.setEncoding('utf8')
  response.on('data', (chunk: string) => {
    if (!isOver) parser.feed(chunk)
  })
  response.on('error', () => {})
  // `close` follows an orderly end as well as a cut.
  response.on('close', () => {
    if (signal.aborted) finish({ kind: 'stopped' })
    else broken(`${admin.label} ended the trace before the request was finished: did the gateway stop or reload?`)
  })
}

function isEventStream(response: IncomingMessage): boolean {
  return /^text\/event-stream\b/i.test(response.headers['content-type'] ?? '')
}

async function readText(response: IncomingMessage): Promise<string> {
  let text = ''
  response.setEncoding('utf8')
  try {
    for await (const chunk of response) {
      text += String(chunk)
      if (text.length > MAX_REFUSAL_BYTES) break
    }
  } catch {
    // The text received before the cut is enough.
  }
  return text.slice(0, MAX_REFUSAL_BYTES)
}
