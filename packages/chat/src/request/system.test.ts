import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { Loss, Message } from '../middle.ts'
import { hoistSystem, joinSystem } from './system.ts'
import { request } from '../testing/exchange.ts'

const text = (text: string) => ({ type: 'text', text }) as const

it('instructions inside the conversation move to its front, and that is reported', () => {
  const messages: Message[] = [
    { role: 'user', parts: [text('a')] },
    { role: 'system', parts: [text('be brief')] },
    { role: 'assistant', parts: [text('b')] },
  ]
  const losses: Loss[] = []
  const hoisted = hoistSystem(request({ system: [text('be kind')], messages }), losses)
  assert.deepEqual(hoisted.system, [text('be kind'), text('be brief')])
  assert.deepEqual(
    hoisted.messages.map(({ role }) => role),
    ['user', 'assistant'],
  )
  assert.equal(losses.length, 1)
})

it('a conversation without them is left alone', () => {
  const losses: Loss[] = []
  const messages: Message[] = [{ role: 'user', parts: [text('a')] }]
  assert.equal(hoistSystem(request({ messages }), losses).messages, messages)
  assert.deepEqual(losses, [])
})

it('instructions are joined by line, without blank ones', () => {
  assert.equal(joinSystem([text('a'), text(' \n'), text('b')]), 'a\nb')
  assert.equal(joinSystem([text('')]), null)
  assert.equal(joinSystem([]), null)
})
