import { screen } from '@testing-library/react'
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { eventStream, quietStream, refusal, useFakeGateway } from '../testing/fake-gateway.ts'
import { showPart } from '../testing/render.tsx'
import { sampleRecord } from '../testing/samples.ts'
import { TraceNext } from './trace-next.tsx'

const STEP = {
  ...{ eventStart: 100, eventEnd: 300, severity: 'info' },
  message: { type: 'policy', kind: 'rateLimit', phase: 'route', result: { type: 'stop', status: 429 } },
}

describe('tracing the next request', () => {
  test('the expression is that of the request, and its steps appear until it is finished', async (t) => {
    const gateway = useFakeGateway(t, { 'GET /debug/trace': () => eventStream([STEP]) })
    const { user } = await showPart(t, <TraceNext record={sampleRecord()} />)
    await user.click(screen.getByRole('button', { name: 'Start the trace' }))
    assert.ok(await screen.findByText('The request is finished'))
    const steps = screen.getByRole('list', { name: 'Steps' })
    assert.match(steps.textContent ?? '', /rateLimit route ▲ stopped 429/)
    const query = new URLSearchParams(gateway.seen('GET /debug/trace')[0]?.path.split('?')[1])
    assert.equal(query.get('expression'), 'request.method == "GET" && request.path == "/orders"')
  })

  test('waiting can be stopped', async (t) => {
    useFakeGateway(t, { 'GET /debug/trace': quietStream })
    const { user } = await showPart(t, <TraceNext record={sampleRecord()} />)
    await user.click(screen.getByRole('button', { name: 'Start the trace' }))
    assert.ok(await screen.findByRole('button', { name: 'Stop waiting' }))
    assert.equal(screen.getByRole('textbox').hasAttribute('disabled'), true)
  })

  test('an expression that the gateway rejects is an alert', async (t) => {
    useFakeGateway(t, { 'GET /debug/trace': refusal(400, '1:3: unexpected end') })
    const { user } = await showPart(t, <TraceNext record={sampleRecord()} />)
    await user.click(screen.getByRole('button', { name: 'Start the trace' }))
    assert.match((await screen.findByRole('alert')).textContent ?? '', /1:3: unexpected end/)
    assert.ok(screen.getByRole('button', { name: 'Start the trace' }))
  })
})
