import assert from 'node:assert/strict'
import type { RoutesView } from '../../admin/config-view.ts'
import type { SendCall, SendEnd, SendEvent } from '../../admin/send/send-view.ts'
import type { Program } from '../process.ts'

/** Requests that the admin server of a program sends, and what it tells of them. */

/** Every listener, in the order of the config. */
export async function listenersOf({ admin }: Pick<Program, 'admin'>): Promise<Pick<SendCall, 'bind' | 'listener'>[]> {
  const { binds } = (await (await fetch(`${admin}/api/routes`)).json()) as RoutesView
  return binds.flatMap(({ key, listeners }) => listeners.map(({ key: listener }) => ({ bind: key, listener })))
}

export function post({ admin }: Pick<Program, 'admin'>, call: SendCall): Promise<Response> {
  return fetch(`${admin}/api/send`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-portico-same-origin': '1' },
    body: JSON.stringify(call),
  })
}

export async function send(program: Pick<Program, 'admin'>, call: SendCall): Promise<SendEvent[]> {
  const answer = await post(program, call)
  const text = await answer.text()
  assert.equal(answer.status, 200, text)
  const data = text.split('\n\n').filter((frame) => frame.startsWith('data: '))
  return data.map((frame) => JSON.parse(frame.slice('data: '.length)) as SendEvent)
}

export function statusOf(events: readonly SendEvent[]): number | undefined {
  return events.find((event) => event.type === 'head')?.status
}

export function joinTexts(events: readonly SendEvent[]): string {
  return events.map((event) => (event.type === 'body' && 'text' in event ? event.text : '')).join('')
}

export function endOf(events: readonly SendEvent[]): SendEnd {
  const end = events.at(-1)
  assert.ok(end?.type === 'end')
  return end
}
