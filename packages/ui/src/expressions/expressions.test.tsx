import { screen, waitFor, within } from '@testing-library/react'
import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { type Answers, refusal, useFakeGateway } from '../testing/fake-gateway.ts'
import { openPage } from '../testing/render.tsx'
import { sampleRecord, sampleRequest, sampleState } from '../testing/samples.ts'

const variable = { name: 'request', fields: ['path'], isOptional: false }
const PLACES = [
  { phase: 'route', about: 'policies of a route', variables: [variable] },
  { phase: 'frontend', about: 'connections', variables: [] },
]
const part = (text: string, value: unknown, fields = {}) => ({
  ...{ text, value, state: 'found', error: null, parts: [] },
  ...fields,
})
const EVALUATION = { problems: [], warnings: [], tree: null, type: null, failure: null, isCut: false }

function useExpressionsApi(t: TestContext, others: Answers = {}) {
  return useFakeGateway(t, {
    'GET /api/state': sampleState(),
    'GET /api/expressions': { places: PLACES },
    'GET /api/requests': { requests: [], next: null },
    ...others,
  })
}

describe('the page of expressions', () => {
  test('without an expression it has examples', async (t) => {
    useExpressionsApi(t)
    await openPage(t, '/expressions')
    assert.ok(await screen.findByText(/^Write an expression to see/))
    assert.ok(await screen.findByText('No requests recorded yet.'))
  })

  test('each part has its value, and redacted ones say so', async (t) => {
    const parts = [part('jwt.sub', null, { state: 'hidden' }), part('"ann"', 'ann')]
    const tree = part('jwt.sub == "ann"', true, { parts })
    const gateway = useExpressionsApi(t, { 'POST /api/expressions/evaluate': { ...EVALUATION, tree, type: 'bool' } })
    const { user } = await openPage(t, '/expressions')
    await user.type(await screen.findByRole('textbox', { name: 'Expression' }), 'jwt.sub == "ann"')
    const list = within(await screen.findByRole('list', { name: 'Values of the parts' }))
    assert.ok(list.getByText('(redacted)'))
    assert.ok(list.getByText('true'))
    assert.ok(screen.getByText('The value has the type bool. The values of its parts:'))
    const body = gateway.seen('POST /api/expressions/evaluate').at(-1)?.body as { phase: string; variables: object }
    assert.equal(body.phase, 'route')
  })

  test('variables that are no JSON are not evaluated', async (t) => {
    const gateway = useExpressionsApi(t, { 'POST /api/expressions/evaluate': EVALUATION })
    const { user } = await openPage(t, '/expressions')
    await user.clear(await screen.findByRole('textbox', { name: 'Variables as JSON' }))
    await user.type(screen.getByRole('textbox', { name: 'Variables as JSON' }), 'nonsense')
    assert.ok(await screen.findByText(/^Invalid JSON/))
    const before = gateway.seen('POST /api/expressions/evaluate').length
    await user.type(screen.getByRole('textbox', { name: 'Expression' }), 'true')
    assert.ok(await screen.findByText('The variables are not valid JSON.'))
    assert.equal(gateway.seen('POST /api/expressions/evaluate').length, before)
  })

  test('a problem leads to its location in the text', async (t) => {
    const problem = { message: 'unknown variable reqest', line: 1, column: 1, offset: 0, suggestion: 'request' }
    useExpressionsApi(t, { 'POST /api/expressions/evaluate': { ...EVALUATION, problems: [problem] } })
    const { user } = await openPage(t, '/expressions?expression=reqest.path')
    const list = within(await screen.findByRole('list', { name: 'Problems' }))
    assert.match(list.getByRole('listitem').textContent ?? '', /unknown variable reqest; did you mean request\?/)
    assert.ok(screen.getByText('A config with this expression would be rejected.'))
    await user.click(list.getByRole('button', { name: '1:1' }))
    assert.equal(document.activeElement, screen.getByRole('textbox', { name: 'Expression' }))
  })

  test('a recorded request is the input, and can be replaced by variables', async (t) => {
    useExpressionsApi(t, {
      'GET /api/requests': { requests: [sampleRequest()], next: null },
      'GET /api/requests/r1': sampleRecord(),
    })
    const { user, address } = await openPage(t, '/expressions')
    await user.click(await screen.findByRole('link', { name: /GET \/orders/ }))
    assert.ok(await screen.findByText(/^Only a summary of this request was recorded/))
    assert.match(address(), /id=r1/)
    await user.click(screen.getByRole('button', { name: 'Write variables instead' }))
    await waitFor(() => assert.doesNotMatch(address(), /id=r1/))
  })

  test('a phase without variables says so', async (t) => {
    useExpressionsApi(t)
    const { user } = await openPage(t, '/expressions')
    await user.selectOptions(await screen.findByRole('combobox', { name: 'Used in' }), 'frontend')
    assert.ok(await screen.findByText('An expression of frontend has no variables.'))
  })

  test('an error of the gateway is shown, and can be retried', async (t) => {
    const gateway = useExpressionsApi(t, { 'POST /api/expressions/evaluate': refusal(429, 'too many evaluations') })
    const { user } = await openPage(t, '/expressions?expression=request.path')
    const alert = await screen.findByRole('alert')
    assert.match(alert.textContent ?? '', /too many evaluations/)
    gateway.now({ 'POST /api/expressions/evaluate': { ...EVALUATION, failure: 'no such key' } })
    await user.click(screen.getByRole('button', { name: 'Try again' }))
    assert.ok(await screen.findByText('▲ The evaluation failed: no such key'))
  })
})
