import type { Reply } from './http.ts'

/** JSON that is yet to be made. */
export function later(value: Promise<unknown>): Reply {
  return { status: 200, type: 'application/json', body: pieces() }

  async function* pieces(): AsyncIterable<string> {
    yield `${JSON.stringify(await value)}\n`
  }
}
