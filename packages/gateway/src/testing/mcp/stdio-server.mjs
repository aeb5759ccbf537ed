import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync } from 'node:fs'
import { createInterface } from 'node:readline'

/** A stdio server that behaves as its requests say, for tests of the code that starts it. */

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const lines = createInterface({ input: process.stdin })
let initialized = 0
let hasBegun = false
let waiting = []

if (process.argv.includes('--deaf')) {
  process.on('SIGTERM', () => {})
  setInterval(() => {}, 1000)
}
if (process.argv.includes('--die')) {
  process.stderr.write(`no luck with ${process.env.LUCK_TOKEN}\n`, () => process.exit(7))
}
if (process.argv.includes('--child')) {
  const child = spawn('sleep', ['600'], { stdio: ['ignore', 'inherit', 'inherit'] })
  process.stderr.write(`child ${child.pid}\n`)
}
if (process.argv.includes('--stray')) {
  const stray = spawn('sleep', ['600'], { stdio: 'ignore', detached: true })
  stray.unref()
  process.stderr.write(`child ${stray.pid}\n`)
}

/** No faster than it is read. */
async function report({ steps, text = '', _meta: { progressToken } }) {
  for (let progress = 1; progress <= steps; progress++) {
    const params = { progressToken, progress, text }
    if (!send({ method: 'notifications/progress', params })) await once(process.stdout, 'drain')
    if (progress % 20 === 0) process.stderr.write(`said ${progress}\n`)
  }
}

lines.on('line', (line) => {
  const { id, method, params, result, error } = JSON.parse(line)
  if (method === undefined) return send({ method: 'notifications/heard', params: { id, result, error } })
  if (id === undefined) {
    if (method === 'notifications/initialized') initialized++
    if (method === 'notifications/cancelled') {
      waiting = waiting.filter((held) => held !== params.requestId)
      send({ id: params.requestId, error: { code: 1, message: 'cancelled' } })
    }
    return
  }
  const answer = (value) => send({ id, result: value })
  // As the Python SDK answers whatever comes before `initialize`.
  if (method === 'initialize') hasBegun = true
  else if (process.argv.includes('--strict') && !hasBegun) {
    return send({ id, error: { code: -32602, message: 'Invalid request parameters', data: '' } })
  }
  switch (method) {
    case 'initialize':
      return answer({
        protocolVersion: params.protocolVersion,
        capabilities: {},
        serverInfo: { name: 'fake', version: String(process.pid) },
        asked: params,
      })
    case 'echo':
      return answer({ params, line })
    case 'pid':
      return answer({ pid: process.pid, initialized })
    case 'env':
      return answer(process.env)
    case 'say':
      // In one piece, so that nothing comes between them.
      process.stdout.write(params.messages.map((said) => `${JSON.stringify({ jsonrpc: '2.0', ...said })}\n`).join(''))
      return params.silent ? undefined : answer({})
    case 'print':
      process.stdout.write(`${params.text}\n`)
      return answer({})
    case 'progress':
      return report(params).then(() => answer({ steps: params.steps }))
    case 'hold':
      waiting.push(id)
      return
    case 'waiting':
      return answer({ count: waiting.length })
    case 'release':
      for (const held of waiting.splice(0)) send({ id: held, result: { released: true } })
      return answer({})
    case 'stderr':
      process.stderr.write(params.text)
      return answer({})
    case 'exit':
      process.stderr.write('about to exit\n', () => process.exit(params.code))
      return
    case 'large': {
      const said = { text: 'x'.repeat(params.bytes) }
      const message = params.first ? { jsonrpc: '2.0', id, result: said } : { result: said, jsonrpc: '2.0', id }
      process.stdout.write(`${JSON.stringify(message)}\n`)
      return
    }
    case 'tools/call':
      return params.name === 'exit' ? process.exit(3) : answer({ content: [] })
    case 'batch':
      process.stdout.write(`${JSON.stringify([{ jsonrpc: '2.0', id, result: {} }])}\n`)
      return
    case 'latin1':
      process.stdout.write(
        Buffer.from(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"text":"caf\xe9"}}\n`, 'latin1'),
      )
      return
    case 'close':
      closeSync(params.descriptor)
      setInterval(() => {}, 1000)
      return params.descriptor === 0 ? answer({}) : undefined
    case 'flood':
      process.stdout.write('x'.repeat(17 * 1024 * 1024))
      return
    default:
      return answer({ method })
  }
})
lines.on('close', () => {
  if (!process.argv.includes('--deaf')) process.exit(0)
})
