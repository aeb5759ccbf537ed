import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { chainOf } from '../chain.ts'
import { guardContext } from '../testing/guard-target.ts'
import { createRegexGuard } from './guard.ts'
import type { RegexGuardConfig } from './schema.ts'

const response = { message: 'The request was rejected due to inappropriate content.', statusCode: 403 }

function guard(config: Partial<RegexGuardConfig>) {
  return createRegexGuard({ matches: [], builtins: [], action: 'Mask', ...config }, response)
}

describe('regex', () => {
  it('masks in every text what a builtin or a pattern finds', () => {
    const texts = ['my SSN: 123-45-6789', 'nothing', 'a@b.com knows project X']
    const context = guardContext(['user', 'user', 'user'])
    assert.deepEqual(guard({ builtins: ['Ssn', 'Email'], matches: ['project \\w'] }).check(texts, 'request', context), {
      kind: 'mask',
      texts: ['my SSN: <SSN>', 'nothing', '<EMAIL_ADDRESS> knows <masked>'],
      found: ['Ssn', 'Email', 'matches[0]'],
    })
  })

  it('masks each builtin with its own word', () => {
    const text = '123-45-6789; 4111 1111 1111 1111; 415-555-0123; a@b.com; 130 692 544'
    const all = guard({ builtins: ['Ssn', 'CreditCard', 'PhoneNumber', 'Email', 'CaSin'] })
    const verdict = all.check([text], 'request', guardContext(['user']))
    assert.ok('kind' in verdict && verdict.kind === 'mask')
    assert.deepEqual(verdict.texts, ['<SSN>; <CREDIT_CARD>; <PHONE_NUMBER>; <EMAIL_ADDRESS>; <CA_SIN>'])
  })

  it('passes when nothing is found, and with no rules at all', () => {
    const context = guardContext(['user'])
    assert.deepEqual(guard({ builtins: ['Ssn'], matches: ['x+'] }).check(['hello'], 'request', context), {
      kind: 'pass',
    })
    assert.deepEqual(guard({}).check(['123-45-6789'], 'request', context), { kind: 'pass' })
  })

  it('ignores matches of nothing', () => {
    const context = guardContext(['user'])
    assert.deepEqual(guard({ matches: ['x*', '\\b', '^', ''] }).check(['hello'], 'request', context), { kind: 'pass' })
    const rejecting = guard({ matches: ['x*'], action: 'Reject' })
    assert.deepEqual(rejecting.check(['hello'], 'request', context), { kind: 'pass' })
    assert.ok('kind' in rejecting.check(['xx'], 'request', context))
  })

  it('refuses requests when it is told to, and masks responses all the same', () => {
    const rejecting = guard({ builtins: ['Ssn'], action: 'Reject' })
    assert.deepEqual(rejecting.check(['a', '123-45-6789'], 'request', guardContext(['user', 'user'])), {
      kind: 'reject',
      status: 403,
      body: 'The request was rejected due to inappropriate content.',
      found: ['Ssn'],
      reason: 'a pattern matched',
    })
    assert.deepEqual(rejecting.check(['123-45-6789'], 'response', guardContext(['assistant'])), {
      kind: 'mask',
      texts: ['<SSN>'],
      found: ['Ssn'],
    })
  })

  it('keeps the arguments of tool calls JSON', () => {
    const context = { ...guardContext([]), about: [{ role: 'assistant', form: 'json' } as const] }
    const verdict = guard({ builtins: ['Ssn'] }).check(
      ['{"ssn":123456789,"text":"\\n123-45-6789"}'],
      'request',
      context,
    )
    assert.deepEqual('kind' in verdict && verdict.kind === 'mask' && verdict.texts, [
      '{"ssn":"<SSN>","text":"\\n<SSN>"}',
    ])
  })

  it('finds matches of any length in a whole text', () => {
    const key = `BEGIN${'x'.repeat(50_000)}END`
    const verdict = guard({ matches: ['(?s)BEGIN.*?END'] }).check([`a ${key} b`], 'request', guardContext(['user']))
    assert.deepEqual('kind' in verdict && verdict.kind === 'mask' && verdict.texts, ['a <masked> b'])
  })

  it('fails closed rather than to run a large pattern over a huge text for long', async () => {
    const chain = chainOf([guard({ matches: ['(?:[a-z]{1,100} ){1,9}[0-9]'] })], 'request')
    const text = 'word '.repeat(200_000)
    assert.equal((await chain.run([text], guardContext(['user']))).verdict.kind, 'pass')
    const { verdict, notes } = await chain.run([`${text}9`], guardContext(['user']))
    assert.equal(verdict.kind === 'reject' && verdict.status, 503)
    assert.equal(notes[0]!.reason, 'a text is too long for the patterns')
  })

  it('fails closed for JSON with a number that is too long to look at', async () => {
    const context = { ...guardContext([]), about: [{ role: 'assistant', form: 'json' } as const] }
    const json = `{"n":${'1'.repeat(20_000)}}`
    assert.deepEqual(guard({ builtins: ['Ssn'] }).check([json], 'request', context), {
      kind: 'failed',
      reason: 'a text is too long for the patterns',
    })
  })

  it('takes no longer for texts that make other engines go back', async () => {
    const evil = guard({ matches: ['(a+)+$', '(a|a)*b', '(.*)(.*)(.*)x'] })
    const { verdict } = await chainOf([evil], 'request').run(['a'.repeat(50_000)], guardContext(['user']))
    assert.deepEqual(verdict, { kind: 'mask', texts: ['<masked>'], found: ['matches[0]'] })
  })
})
