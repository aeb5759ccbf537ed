import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { McpResult } from '../play/mcp-session.ts'
import { begun, type SentRequest } from '../play/send.ts'
import { type ChatMessage, MAX_ROUNDS, runChat, type Turn } from './chat-loop.ts'
import { ChatReader } from './chat-reader.ts'

describe('an answer of a model', () => {
  test('is put together from pieces, wherever they are cut', () => {
    const whole = [
      { model: 'm', choices: [{ delta: { content: 'Hel' } }] },
      { choices: [{ delta: { content: 'lo' } }] },
      { choices: [{ delta: { tool_calls: [{ index: 0, id: 'c1', function: { name: 'echo', arguments: '{"a"' } }] } }] },
      {
        choices: [
          { delta: { tool_calls: [{ index: 0, function: { arguments: ':1}' } }] }, finish_reason: 'tool_calls' },
        ],
      },
      { choices: [], usage: { prompt_tokens: 3, completion_tokens: 4 } },
    ]
    const text = `${whole.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')}data: [DONE]\n\n`
    for (const size of [1, 7, 1000]) {
      const reader = new ChatReader(true)
      for (let at = 0; at < text.length; at += size) reader.read(text.slice(at, at + size))
      assert.deepEqual(reader.answer(), {
        text: 'Hello',
        calls: [{ id: 'c1', name: 'echo', arguments: '{"a":1}' }],
        model: 'm',
        finish: 'tool_calls',
        usage: { input: 3, output: 4 },
        error: null,
      })
    }
  })

  test('may be one document, and may be nonsense', () => {
    const reader = new ChatReader(false)
    reader.read('{"model":"m","choices":[{"message":{"content":"Hi"')
    reader.read(',"tool_calls":[{"id":"c","function":{"name":"x","arguments":""}}]},"finish_reason":"stop"}]}')
    assert.deepEqual([reader.answer().text, reader.answer().calls.length], ['Hi', 1])
    for (const text of ['', 'null', '[]', '{', '{"choices":[null]}', '{"choices":[{"delta":7}]}', '{"choices":{}}']) {
      const other = new ChatReader(false)
      other.read(text)
      assert.equal(other.answer().text, '', text)
    }
    const far = new ChatReader(false)
    far.read('{"choices":[{"message":{"tool_calls":[{"index":4000000000,"function":{"name":"x"}}]}}]}')
    assert.equal(far.answer().calls.length, 0)
  })
})

describe('a conversation', () => {
  test('goes on with the results of tools until the model has an answer', async () => {
    const { messages, shown, asked, called } = await converse([callOf('echo', '{"text":"hi"}'), sayOf('done')])
    assert.deepEqual(called, [['echo', { text: 'hi' }]])
    assert.deepEqual(
      messages.map(({ role }) => role),
      ['assistant', 'tool', 'assistant'],
    )
    assert.deepEqual(
      shown.map(({ kind }) => kind),
      ['model', 'tool', 'model'],
    )
    assert.equal((asked[0] as { tools: unknown[] }).tools.length, 1)
  })

  test('tells the model of a tool that fails, and people too', async () => {
    const { messages, shown } = await converse([callOf('echo', 'no json'), sayOf('sorry')])
    const [, tool] = messages
    assert.ok(tool?.role === 'tool' && tool.content.startsWith('error: '))
    assert.ok(shown[1]?.kind === 'tool' && shown[1].problem !== null)
  })

  test('ends after so many rounds, and leaves no call without a result', async () => {
    const { messages, shown, asked } = await converse(Array.from({ length: 50 }, () => callOf('echo', '{}')))
    assert.equal(asked.length, MAX_ROUNDS + 1)
    assert.equal(messages.at(-1)?.role, 'tool')
    assert.match(JSON.stringify(shown.at(-1)), /Stopped after/)
  })

  test('shows a refusal with what was sent, and says nothing in its place', async () => {
    const refused = { ...begun(CALL), status: 429, text: 'rate limit exceeded\n' }
    const { messages, shown } = await converse([refused])
    assert.deepEqual(messages, [])
    assert.ok(shown[0]?.kind === 'failed')
    assert.deepEqual([shown[0].text, shown[0].sent], ['429: rate limit exceeded', refused])
  })
})

const CALL = { bind: 'b', listener: 'l', method: 'POST', path: '/' }

async function converse(answers: SentRequest[]) {
  const shown: Turn[] = []
  const asked: object[] = []
  const called: unknown[] = []
  const result: McpResult = { content: [{ type: 'text', text: 'ok' }], isError: false, raw: {} }
  const messages: ChatMessage[] = await runChat([{ role: 'user', content: 'hello' }], {
    model: 'm',
    isStream: false,
    tools: [{ name: 'echo' }],
    ask(body, onText) {
      const sent = answers[asked.length]
      assert.ok(sent !== undefined)
      asked.push(body)
      onText(sent.text, sent)
      return Promise.resolve(sent)
    },
    callTool(name, args) {
      called.push([name, args])
      return Promise.resolve({ result, sent: begun(CALL) })
    },
    show(turn, isNew) {
      if (!isNew) shown.pop()
      shown.push(turn)
    },
  })
  return { messages, shown, asked, called }
}

function answered(message: object): SentRequest {
  return { ...begun(CALL), status: 200, text: JSON.stringify({ choices: [{ message }] }) }
}

function sayOf(content: string): SentRequest {
  return answered({ content })
}

function callOf(name: string, args: string): SentRequest {
  return answered({ content: null, tool_calls: [{ id: 'c', function: { name, arguments: args } }] })
}
