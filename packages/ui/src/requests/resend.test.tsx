import { screen } from '@testing-library/react'
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { eventStream, refusal, useFakeGateway } from '../testing/fake-gateway.ts'
import { showPart, shownText } from '../testing/render.tsx'
import { sampleExplanation, sampleRecord } from '../testing/samples.ts'
import { Resend } from './resend.tsx'

const END = { type: 'end', error: null, isCut: false, bytes: 2, took: 900, record: null }

describe('sending a request again', () => {
  test('the form has the request as recorded, without redacted credentials, and says so', async (t) => {
    const requestHeaders = { host: 'a', authorization: '<redacted>', 'x-team': 'web' }
    await showPart(t, <Resend record={sampleRecord({ requestHeaders })} />)
    const fields = ['Method', 'Host', 'Path', 'Headers'].map((name) => screen.getByRole('textbox', { name }))
    const values = fields.map((field) => ('value' in field ? field.value : null))
    assert.deepEqual(values, ['GET', 'shop.example.com', '/orders?page=2', 'x-team: web'])
    assert.match(shownText(), /Credentials were redacted in the record: authorization\./)
  })

  test('the changed request is sent to its listener, and the response is shown as text', async (t) => {
    const gateway = useFakeGateway(t, {
      'POST /api/send': () =>
        eventStream([
          { type: 'head', status: 201, headers: [['x-a', 'b']] },
          { type: 'body', text: '<b>ok</b>' },
          { ...END, record: sampleRecord({ status: 201 }) },
        ]),
      'GET /api/requests/r1/explain': sampleExplanation({ headline: 'route orders answered' }),
    })
    const { user } = await showPart(t, <Resend record={sampleRecord()} />)
    await user.clear(screen.getByRole('textbox', { name: 'Method' }))
    await user.type(screen.getByRole('textbox', { name: 'Method' }), 'POST')
    await user.type(screen.getByRole('textbox', { name: 'Body' }), 'order')
    await user.click(screen.getByRole('button', { name: 'Send' }))
    const response = await screen.findByRole('region', { name: 'Response' })
    assert.match(response.textContent ?? '', /201.*x-a: b\s+<b>ok<\/b>/s)
    assert.equal(response.querySelector('b'), null)
    assert.ok(await screen.findByText('Route orders answered'))
    const [call] = gateway.seen('POST /api/send')
    assert.equal(call?.headers.get('x-portico-same-origin'), '1')
    assert.deepEqual(call?.body, {
      ...{ bind: 'bind/1', listener: 'bind/1/web', method: 'POST', path: '/orders?page=2', headers: [], trace: true },
      ...{ host: 'shop.example.com', body: 'order' },
    })
  })

  test('a line that is no header is named, and nothing is sent', async (t) => {
    const gateway = useFakeGateway(t, {})
    const { user } = await showPart(t, <Resend record={sampleRecord()} />)
    await user.type(screen.getByRole('textbox', { name: 'Headers' }), 'nonsense')
    assert.ok(screen.getByText('Not a header: nonsense'))
    await user.click(screen.getByRole('button', { name: 'Send' }))
    assert.equal(gateway.calls.length, 0)
  })

  test('a gateway that does not send it says why', async (t) => {
    useFakeGateway(t, { 'POST /api/send': refusal(409, 'the listener is gone') })
    const { user } = await showPart(t, <Resend record={sampleRecord()} />)
    await user.click(screen.getByRole('button', { name: 'Send' }))
    assert.match((await screen.findByRole('alert')).textContent ?? '', /the listener is gone/)
  })

  test('a connection cannot be sent again', async (t) => {
    await showPart(t, <Resend record={sampleRecord({ method: null })} />)
    assert.match(shownText(), /was not an HTTP request/)
    assert.equal(screen.queryByRole('button'), null)
  })
})
