import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { countTokens as countCl100k } from 'gpt-tokenizer/encoding/cl100k_base'
import { countTokens as countO200k } from 'gpt-tokenizer/encoding/o200k_base'
import { chatRequest } from '../testing/chat-request.ts'
import type { Message, Part } from '../middle.ts'
import { countTexts, countTokens } from './count-tokens.ts'
import { encodingNameOf } from './encoding.ts'
import { estimateTokens } from './estimate.ts'
import { slicesOf } from './slices.ts'
import { anyCharacter } from '../../../http/src/testing/any-character.ts'

const user = (...parts: Part[]): Message => ({ role: 'user', parts })
const text = (words: string): Part => ({ type: 'text', text: words })

test('the vocabulary follows the name of the model', () => {
  const newer = [
    'gpt-4o',
    'gpt-4o-mini-2024-07-18',
    'chatgpt-4o-latest',
    'gpt-4.1-nano',
    'gpt-4.5-preview',
    'gpt-5',
    'gpt-5.1-codex',
    'o1',
    'o3-mini',
    'o4-mini',
    'gpt-oss-20b',
    'openai/gpt-4o',
    'ft:gpt-4o:org',
    'GPT-5',
  ]
  const others = [
    'gpt-4',
    'gpt-4-turbo',
    'gpt-4-32k',
    'gpt-3.5-turbo',
    'claude-sonnet-4-5',
    'gemini-2.5-pro',
    'text-embedding-3-small',
    'o10x',
    'proto3-mini',
    '',
    'llama-3.1-8b',
  ]
  for (const model of newer) assert.equal(encodingNameOf(model), 'o200k', model)
  for (const model of others) assert.equal(encodingNameOf(model), 'cl100k', model)
})

test('a message costs its text, its role and its marks; an answer is primed', async () => {
  const words = 'The quick brown fox jumps over the lazy dog.'
  const request = chatRequest({ model: 'gpt-4o', messages: [user(text(words))] })
  assert.equal(await countTokens(request), 3 + 4 + countO200k(words))
  const older = { ...request, model: 'gpt-4', system: [{ type: 'text' as const, text: 'Be brief.' }] }
  assert.equal(await countTokens(older), 3 + 4 + 4 + countCl100k(words) + countCl100k('Be brief.'))
  assert.equal(await countTokens(request, 'gpt-4'), 3 + 4 + countCl100k(words))
  assert.equal(await countTokens(chatRequest({ model: 'gpt-4o' })), 3)
})

test('everything a model reads is counted', async () => {
  const base = chatRequest({ model: 'gpt-4o', messages: [user(text('hello'))] })
  const plain = await countTokens(base)
  const more = async (...parts: Part[]) =>
    (await countTokens({ ...base, messages: [user(text('hello'), ...parts)] })) - plain
  assert.equal(
    await more({ type: 'toolCall', id: '1', name: 'look', arguments: '{"at":1}' }),
    countO200k('look') + countO200k('{"at":1}'),
  )
  const result: Part = { type: 'toolResult', id: '1', isError: false, parts: [{ type: 'text', text: 'seen' }] }
  assert.equal(await more(result), countO200k('seen'))
  assert.equal(
    await more({ type: 'reasoning', text: 'hmm' }, { type: 'refusal', text: 'no' }),
    countO200k('hmm') + countO200k('no'),
  )
  assert.equal(await more({ type: 'native', value: { a: 1 } }), countO200k('{"a":1}'))
  const url = { kind: 'url' as const, url: 'https://a.example/x' }
  assert.equal(await more({ type: 'image', source: url }), 765)
  assert.equal(await more({ type: 'image', source: url, detail: 'low' }), 85)
  assert.equal(await more({ type: 'audio', format: 'wav', data: 'A'.repeat(64_000) }), 10)
  const note = { kind: 'data' as const, mediaType: 'text/plain', data: Buffer.from('a note').toString('base64') }
  assert.equal(await more({ type: 'file', source: note }), countO200k('a note'))
  assert.equal(
    await more({ type: 'file', source: { ...note, mediaType: 'application/pdf', data: 'A'.repeat(1600) } }),
    30,
  )
  assert.equal(await more({ type: 'file', source: url }), 0)
  const schema = { type: 'object', properties: { at: { type: 'number' } } }
  const tools = [{ name: 'look', description: 'Looks there.', schema }]
  const described = countO200k('look') + countO200k('Looks there.') + countO200k(JSON.stringify(schema))
  assert.equal((await countTokens({ ...base, tools })) - plain, 4 + described)
  const output = { kind: 'schema' as const, name: 'look', schema }
  assert.equal(
    (await countTokens({ ...base, output })) - plain,
    countO200k('look') + countO200k(JSON.stringify(schema)),
  )
})

test('slices are the whole text, short, and cut in whole characters', () => {
  const word = fc.oneof(
    fc.string(),
    fc.string({ unit: 'grapheme' }),
    fc.constantFrom('a'.repeat(200), ' '.repeat(300), '漢'.repeat(100), '👍'.repeat(70), '\n'),
  )
  const long = fc.array(word, { maxLength: 60 }).map((words) => words.join(' ').repeat(3))
  fc.assert(
    fc.property(long, (given) => {
      const slices = [...slicesOf(given)]
      assert.equal(slices.join(''), given)
      for (const slice of slices) {
        assert.ok(slice.length > 0 && slice.length <= 1_024)
        assert.ok(!/\S{66,}|\s{66,}/.test(slice))
      }
      if (given.isWellFormed()) assert.ok(slices.every((slice) => slice.isWellFormed()))
    }),
  )
})

test('ordinary text counts as in one piece', async () => {
  const word = fc.string({
    unit: fc.constantFrom(...'abcdefghijklmnopqrstuvwxyzABC0123456789.,!?-'.split('')),
    minLength: 1,
    maxLength: 20,
  })
  await fc.assert(
    fc.asyncProperty(fc.array(word, { maxLength: 3_000 }), async (words) => {
      const given = words.join(' ')
      assert.equal(await countTexts([given], 'gpt-4o'), countO200k(given))
    }),
    { numRuns: 20 },
  )
})

test('words without an end do not take forever', async () => {
  for (const piece of ['a', ' ', '漢', '!?', '👍🏽', '\n']) {
    const given = piece.repeat(100_000)
    const tokens = await countTexts([given], 'gpt-4o')
    assert.ok(tokens > 0 && tokens <= Buffer.byteLength(given), piece)
  }
})

test('text beyond the counted part is estimated', async () => {
  const given = 'word '.repeat(200_000)
  const tokens = await countTexts([given], 'gpt-4o')
  const exact = 200_000
  assert.ok(tokens > exact * 0.8 && tokens < exact * 1.3, String(tokens))
})

test('special tokens and broken characters are text', async () => {
  assert.ok((await countTexts(['<|endoftext|>'], 'gpt-4o')) > 1)
  assert.ok((await countTexts(['<|im_start|>system'], 'gpt-4')) > 1)
  assert.ok((await countTexts(['\ud800 x'], 'gpt-4o')) > 0)
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: anyCharacter }), async (given) => {
      assert.ok((await countTexts([given], 'gpt-4o')) >= (given === '' ? 0 : 1))
    }),
  )
})

test('an estimate is near the count', () => {
  const english = 'The gateway accepts traffic of clients on its listeners and applies policies on the way. '.repeat(20)
  const ratio = estimateTokens(english) / countO200k(english)
  assert.ok(ratio > 0.8 && ratio < 1.6, String(ratio))
  assert.equal(estimateTokens(''), 0)
  assert.equal(estimateTokens('漢字'), 2)
})
