import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'

/** An answer of the admin API: a value to send as JSON, a whole response, or a function that makes either. */
type Answer = object | Response | ((call: SeenCall) => unknown)

/** Answers by method and path, such as `GET /api/routes`; the query is not part of the key. */
export type Answers = Readonly<Record<string, Answer>>

export interface SeenCall {
  readonly method: string
  /** With its query. */
  readonly path: string
  readonly headers: Headers
  readonly body: unknown
}

/** Serves an admin API that answers as a test says. A call without an answer fails the test. */
export function useFakeGateway(t: TestContext, answers: Answers): FakeGateway {
  const gateway = new FakeGateway(answers)
  gateway.serve(t)
  return gateway
}

class FakeGateway {
  readonly calls: SeenCall[] = []
  #answers: Answers
  readonly #unanswered: string[] = []

  constructor(answers: Answers) {
    this.#answers = answers
  }

  /** Takes the place of `fetch` until the test is over. */
  serve(t: TestContext): void {
    const { fetch } = globalThis
    globalThis.fetch = (input, init) =>
      this.#answer(typeof input === 'string' ? input : 'url' in input ? input.url : input.href, init ?? {})
    t.after(() => {
      globalThis.fetch = fetch
      assert.deepEqual(this.#unanswered, [], 'calls that the test has no answer for')
    })
  }

  /** Changes some of the answers. */
  now(answers: Answers): void {
    this.#answers = { ...this.#answers, ...answers }
  }

  /** The calls of one method and path. */
  seen(key: string): SeenCall[] {
    return this.calls.filter((call) => keyOf(call) === key)
  }

  async #answer(path: string, { method = 'GET', headers, body, signal }: RequestInit): Promise<Response> {
    const read: unknown = typeof body === 'string' ? JSON.parse(body) : undefined
    const call = { method, path, headers: new Headers(headers), body: read }
    this.calls.push(call)
    const answer = this.#answers[keyOf(call)]
    if (answer === undefined) {
      this.#unanswered.push(keyOf(call))
      return refusal(501, 'the test has no answer for this call')
    }
    const value = await (typeof answer === 'function' ? answer(call) : answer)
    if (signal?.aborted === true) throw new DOMException('aborted', 'AbortError')
    return value instanceof Response ? value.clone() : Response.json(value)
  }
}

export function refusal(status: number, text: string): Response {
  return new Response(text, { status })
}

/** A stream of server-sent events that has ended. */
export function eventStream(events: readonly object[]): Response {
  return new Response(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''))
}

/** A stream of server-sent events that says nothing and stays open until its reader leaves. */
export function quietStream(): Response {
  return new Response(new ReadableStream())
}

function keyOf({ method, path }: SeenCall): string {
  return `${method} ${path.split('?')[0] ?? ''}`
}
