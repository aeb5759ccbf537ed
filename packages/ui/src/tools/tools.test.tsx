import { screen, waitFor, within } from '@testing-library/react'
import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import type { SendCall } from '@portico/gateway/admin-send'
import type { McpResult } from '../play/mcp-session.ts'
import { eventStream, type SeenCall, useFakeGateway } from '../testing/fake-gateway.ts'
import { openPage, showPart, shownText } from '../testing/render.tsx'
import {
  sampleBackend,
  sampleBackends,
  samplePart,
  sampleRoute,
  sampleRoutes,
  sampleState,
} from '../testing/samples.ts'
import { ToolResult } from './result.tsx'

const END = { type: 'end', error: null, isCut: false, bytes: 2, took: 900, record: null }
const part = samplePart({ name: 'files', kind: 'http', at: '127.0.0.1:3001' })
const SERVERS = sampleBackend({ key: 'tools', name: 'tools', kind: 'mcp', at: '', groups: [[part]] })
const TOOLS = sampleRoute('tools', { backends: [{ backend: 'tools', name: 'tools', weight: 1, policies: [] }] })
const ECHO = {
  name: 'echo',
  description: '<b>Says</b> it again',
  inputSchema: {
    type: 'object',
    required: ['message'],
    properties: { message: { type: 'string' }, times: { type: 'integer', maximum: 3 } },
  },
}

/** An MCP server behind the gateway: `results` has the result of each method. */
function useTools(t: TestContext, results: Record<string, unknown>) {
  const answer = ({ body }: SeenCall) => {
    const { method, body: text = '{}' } = body as SendCall
    const message = JSON.parse(text) as { id?: number; method?: string }
    const result = results[message.method ?? ''] ?? {}
    const reply = JSON.stringify({ jsonrpc: '2.0', id: message.id, result })
    const status = method === 'DELETE' || message.id === undefined ? 202 : 200
    const headers = [
      ['content-type', 'application/json'],
      ['mcp-session-id', 's1'],
    ]
    return eventStream([{ type: 'head', status, headers }, { type: 'body', text: reply }, END])
  }
  return useFakeGateway(t, {
    'GET /api/state': sampleState(),
    'GET /api/routes': sampleRoutes([TOOLS]),
    'GET /api/backends': sampleBackends([SERVERS]),
    'GET /api/requests': { requests: [], next: null },
    'POST /api/send': answer,
  })
}

const sentMethods = (calls: readonly SeenCall[]) =>
  calls.flatMap(({ body }) => {
    const { method, body: text } = body as SendCall
    return method === 'POST' ? [(JSON.parse(text ?? '{}') as { method: string }).method] : []
  })

describe('the page of tools', () => {
  test('a form is made from the schema, its values are checked, and the call has their types', async (t) => {
    const result = { content: [{ type: 'text', text: 'hello' }] }
    const gateway = useTools(t, { 'tools/list': { tools: [ECHO] }, 'tools/call': result })
    const { user } = await openPage(t, '/tools')
    await user.click(await screen.findByRole('button', { name: 'Call' }))
    assert.ok(await screen.findByText('1 field has a problem'))
    assert.ok(screen.getByText('Required'))
    assert.ok(!sentMethods(gateway.seen('POST /api/send')).includes('tools/call'))
    await user.type(screen.getByRole('textbox', { name: /^message/ }), 'hello')
    await user.type(screen.getByRole('textbox', { name: /^times/ }), '2')
    await user.click(screen.getByRole('button', { name: 'Call' }))
    const region = await screen.findByRole('region', { name: 'Result' })
    assert.ok(within(region).getByText('hello'))
    const last = gateway.seen('POST /api/send').at(-1)?.body as SendCall
    const { params } = JSON.parse(last.body ?? '') as { params: unknown }
    assert.deepEqual(params, { name: 'echo', arguments: { message: 'hello', times: 2 } })
  })

  test('the description of a tool stays text', async (t) => {
    useTools(t, { 'tools/list': { tools: [ECHO] } })
    await openPage(t, '/tools')
    assert.ok(await screen.findByText('<b>Says</b> it again'))
    assert.equal(document.querySelector('b'), null)
  })

  test('arguments can be written as JSON, with what the form already has', async (t) => {
    useTools(t, { 'tools/list': { tools: [ECHO] } })
    const { user } = await openPage(t, '/tools')
    await user.type(await screen.findByRole('textbox', { name: /^message/ }), 'hi')
    await user.click(screen.getByRole('button', { name: 'Write JSON' }))
    const field = screen.getByRole('textbox', { name: 'Arguments as JSON' })
    assert.deepEqual(JSON.parse('value' in field ? String(field.value) : ''), { message: 'hi' })
    await user.clear(field)
    await user.type(field, 'nonsense')
    await user.click(screen.getByRole('button', { name: 'Call' }))
    assert.ok(await screen.findByText(/^Invalid JSON/))
  })

  test('servers without tools say so', async (t) => {
    useTools(t, { 'tools/list': { tools: [] } })
    await openPage(t, '/tools')
    assert.ok(await screen.findByText('The MCP servers of this route offer no tools to this caller.'))
    assert.ok(screen.getByText('No tool is open.'))
  })

  test('a tool of the address that is not offered is not replaced by another', async (t) => {
    useTools(t, { 'tools/list': { tools: [ECHO] } })
    await openPage(t, '/tools?tool=gone')
    assert.ok(await screen.findByText('gone is not offered to this caller.'))
  })

  test('the filter is focused by "/" and narrows the list', async (t) => {
    useTools(t, { 'tools/list': { tools: [ECHO, { name: 'wait' }] } })
    const { user } = await openPage(t, '/tools')
    await screen.findByRole('link', { name: /^wait/ })
    await user.keyboard('/wai')
    await waitFor(() => assert.equal(screen.queryByRole('link', { name: /^echo/ }), null))
    assert.ok(screen.getByRole('link', { name: /^wait/ }))
  })
})

describe('the result of a tool', () => {
  const result = (fields: Partial<McpResult>): McpResult => ({ content: [], isError: false, raw: { a: 1 }, ...fields })

  test('an empty result says so, and raw JSON is one click away', async (t) => {
    const { user } = await showPart(t, <ToolResult result={result({})} />)
    assert.match(shownText(), /The result is empty\./)
    await user.click(screen.getByRole('button', { name: 'Raw' }))
    assert.match(shownText(), /"a": 1/)
    assert.ok(screen.getByRole('button', { name: 'Formatted' }))
  })

  test('an error of the tool is marked in words', async (t) => {
    await showPart(t, <ToolResult result={result({ isError: true, content: [{ type: 'text', text: 'disk full' }] })} />)
    assert.match(shownText(), /▲ The tool reported an error.*disk full/)
  })

  test('pictures are shown, but no SVG, and no link is followed', async (t) => {
    const content = [
      { type: 'image', mimeType: 'image/png', data: 'AAAA' },
      { type: 'image', mimeType: 'image/svg+xml', data: 'AAAA' },
      { type: 'resource_link', uri: 'javascript:alert(1)', name: 'x' },
    ]
    await showPart(t, <ToolResult result={result({ content })} />)
    assert.equal(screen.getAllByRole('img').length, 1)
    assert.match(shownText(), /An image of type "image\/svg\+xml", which is not shown/)
    assert.equal(screen.queryByRole('link'), null)
  })
})
