import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import type { JsonObject } from '@portico/http/json'
import type { RpcMessage } from '../protocol.ts'
import { Namer } from '../names.ts'
import { forClient } from './for-client.ts'
import { askedItem, forTarget, isAboutItem, replyForTarget } from './item-methods.ts'
import { hostileObject, messageOf, requestOf, responseOf } from './test-messages.ts'
import { anyCharacter } from '../../../../http/src/testing/any-character.ts'

const namer = new Namer(['a', 'b'], 'Conditional')
const RELATED = 'io.modelcontextprotocol/related-task'

function exposed(method: string, result: JsonObject): unknown {
  return forClient(responseOf(result), method, 'a', namer).value.result
}

test('links and resources inside the result of a call get the URI that clients can read', () => {
  const content: JsonObject[] = [
    { type: 'text', text: 'file:///x' },
    { type: 'resource_link', uri: 'file:///x', name: 'x' },
    { type: 'resource', resource: { uri: 'ui://x', text: '' } },
  ]
  assert.deepEqual(exposed('tools/call', { content, structuredContent: { uri: 'file:///x' } }), {
    content: [
      content[0],
      { type: 'resource_link', uri: 'a+file:///x', name: 'x' },
      { type: 'resource', resource: { uri: 'ui://a+x', text: '' } },
    ],
    structuredContent: { uri: 'file:///x' },
  })
})

test('messages of a prompt and contents of a resource too', () => {
  const link = { type: 'resource_link', uri: 'file:///x' }
  assert.deepEqual(
    exposed('prompts/get', {
      messages: [
        { role: 'user', content: link },
        { role: 'user', content: [link] },
      ],
    }),
    {
      messages: [
        { role: 'user', content: { type: 'resource_link', uri: 'a+file:///x' } },
        { role: 'user', content: [{ type: 'resource_link', uri: 'a+file:///x' }] },
      ],
    },
  )
  assert.deepEqual(exposed('resources/read', { contents: [{ uri: 'file:///x', text: 'y' }] }), {
    contents: [{ uri: 'a+file:///x', text: 'y' }],
  })
})

test('children of a directory and files of a skill too', () => {
  const resources = [{ uri: 'skill://x/SKILL.md', size: 1 }]
  const shown = [{ uri: 'a+skill://x/SKILL.md', size: 1 }]
  assert.deepEqual(exposed('resources/directory/read', { resources }), { resources: shown })
  assert.deepEqual(exposed('skills/get', { skill: { uri: 'skill://x', resources } }), {
    skill: { uri: 'a+skill://x', resources: shown },
  })
  assert.deepEqual(exposed('skills/get', { skill: { uri: 'skill://x', resources: 'dynamic' } }), {
    skill: { uri: 'a+skill://x', resources: 'dynamic' },
  })
})

test('ids of tasks: of one that was begun, asked for, finished, and told about', () => {
  assert.deepEqual(exposed('tools/call', { task: { taskId: '7', status: 'working' } }), {
    task: { taskId: 'a+7', status: 'working' },
  })
  assert.deepEqual(exposed('tools/call', { resultType: 'task', taskId: '7' }), { resultType: 'task', taskId: 'a+7' })
  const result = { content: [{ type: 'resource_link', uri: 'x:y' }] }
  assert.deepEqual(exposed('tasks/get', { taskId: '7', result }), {
    taskId: 'a+7',
    result: { content: [{ type: 'resource_link', uri: 'a+x:y' }] },
  })
  assert.deepEqual(exposed('tasks/result', { _meta: { [RELATED]: { taskId: '7' }, z: 1 } }), {
    _meta: { [RELATED]: { taskId: 'a+7' }, z: 1 },
  })
  const told = messageOf('{"jsonrpc":"2.0","method":"notifications/tasks/status","params":{"taskId":"7"}}')
  assert.deepEqual(forClient(told, '', 'a', namer).value.params, { taskId: 'a+7' })
})

test('news of a resource name it as clients do; what names nothing passes as it came', () => {
  const updated = messageOf(
    '{ "jsonrpc": "2.0", "method": "notifications/resources/updated", "params": { "uri": "f:x" , "n": 1.0} }',
  )
  assert.equal(
    forClient(updated, '', 'a', namer).bytes.toString(),
    '{ "jsonrpc": "2.0", "method": "notifications/resources/updated", "params": { "uri": "a+f:x" , "n": 1.0} }',
  )
  for (const method of ['notifications/tools/list_changed', 'notifications/message', 'notifications/progress']) {
    const message = messageOf(`{"jsonrpc":"2.0","method":"${method}","params":{"uri":"f:x","name":"y"}}`)
    assert.equal(forClient(message, '', 'a', namer), message)
  }
})

test('numbers keep their digits next to what changes', () => {
  const text =
    '{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"resource_link","uri":"f:x","size":12345678901234567890}],"n":1.50}}'
  assert.equal(forClient(messageOf(text), 'tools/call', 'a', namer).bytes.toString(), text.replace('"f:x"', '"a+f:x"'))
})

test('an error of a target passes as it came', () => {
  const error = messageOf('{"jsonrpc":"2.0","id":1,"error":{"code":-32002,"message":"no","data":{"uri":"f:x"}}}')
  assert.equal(forClient(error, 'resources/read', 'a', namer), error)
})

test('the item of a request is found, and its target gets its own name for the item', () => {
  const cases: [method: string, params: JsonObject, own: JsonObject][] = [
    ['tools/call', { name: 'a_x', arguments: { name: 'a_x' } }, { name: 'x', arguments: { name: 'a_x' } }],
    ['prompts/get', { name: 'a_x' }, { name: 'x' }],
    ['resources/read', { uri: 'a+f:x' }, { uri: 'f:x' }],
    ['resources/subscribe', { uri: 'ui://a+x' }, { uri: 'ui://x' }],
    ['resources/unsubscribe', { uri: 'a+f:x' }, { uri: 'f:x' }],
    ['tasks/get', { taskId: 'a+7' }, { taskId: '7' }],
    ['tasks/result', { taskId: 'a+7' }, { taskId: '7' }],
    ['tasks/cancel', { taskId: 'a+7' }, { taskId: '7' }],
    ['tasks/update', { taskId: 'a+7', inputResponses: {} }, { taskId: '7', inputResponses: {} }],
    ['completion/complete', { ref: { type: 'ref/prompt', name: 'a_x' } }, { ref: { type: 'ref/prompt', name: 'x' } }],
    [
      'completion/complete',
      { ref: { type: 'ref/resource', uri: 'a+f:{x}' } },
      { ref: { type: 'ref/resource', uri: 'f:{x}' } },
    ],
    [
      'tools/call',
      { name: 'a_x', _meta: { [RELATED]: { taskId: 'a+7' } } },
      { name: 'x', _meta: { [RELATED]: { taskId: '7' } } },
    ],
  ]
  for (const [method, params, own] of cases) {
    const request = requestOf(method, params)
    const asked = askedItem(request)
    assert.ok(asked !== null && isAboutItem(method), method)
    const owned = namer.owner(asked.kind, asked.exposed)
    assert.equal(owned?.target, 'a')
    const told = forTarget(request, owned, namer)
    assert.deepEqual(told.value.params, own)
    assert.deepEqual(JSON.parse(told.bytes.toString()), told.value)
  }
})

test('arguments keep their bytes', () => {
  const text =
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{ "arguments":{"n":1.0,"big":99999999999999999999}, "name":"a_x"}}'
  const told = forTarget(messageOf(text), { target: 'a', name: 'x' }, namer)
  assert.equal(told.bytes.toString(), text.replace('"a_x"', '"x"'))
})

test('a request that does not name what its method asks for names nothing', () => {
  const params: JsonObject[] = [
    {},
    { name: 1 },
    { uri: null },
    { ref: 'x' },
    { ref: { type: 'ref/other', name: 'x' } },
    { taskId: {} },
  ]
  for (const method of ['tools/call', 'resources/read', 'completion/complete', 'tasks/get']) {
    for (const each of params) assert.equal(askedItem(requestOf(method, each)), null)
  }
  assert.equal(askedItem(requestOf('tools/list', { name: 'x' })), null)
})

test('an answer of a client to a target names its task as the target does', () => {
  const answer = responseOf({ _meta: { [RELATED]: { taskId: 'a+7' } }, action: 'accept' })
  assert.deepEqual(replyForTarget(answer, 'a', namer).value.result, {
    _meta: { [RELATED]: { taskId: '7' } },
    action: 'accept',
  })
  assert.equal(replyForTarget(answer, 'b', namer), answer)
})

test('hostile messages are never an error, and stay JSON with the members they had', () => {
  const methods = [
    'tools/call',
    'prompts/get',
    'resources/read',
    'tasks/get',
    'tasks/result',
    'completion/complete',
    'skills/get',
    'resources/directory/read',
  ]
  const news = [
    'notifications/resources/updated',
    'notifications/tasks/status',
    'notifications/subscriptions/acknowledged',
  ]
  const same = (before: RpcMessage, after: RpcMessage): void => {
    const text = JSON.parse(after.bytes.toString()) as JsonObject
    assert.deepEqual(Object.keys(text), Object.keys(before.value))
    for (const member of ['params', 'result'] as const) {
      const [was, is] = [before.value[member], text[member]]
      if (was !== undefined) assert.deepEqual(Object.keys(is as object).sort(), Object.keys(was as object).sort())
    }
  }
  fc.assert(
    fc.property(
      fc.constantFrom(...methods),
      fc.constantFrom(...news),
      hostileObject,
      (method, notification, object) => {
        const response = responseOf(object)
        same(response, forClient(response, method, 'a', namer))
        same(response, replyForTarget(response, 'a', namer))
        const told = messageOf(JSON.stringify({ jsonrpc: '2.0', method: notification, params: object }))
        same(told, forClient(told, '', 'a', namer))
        const request = requestOf(method, object)
        const asked = askedItem(request)
        const owned = asked && namer.owner(asked.kind, asked.exposed)
        if (owned !== null) same(request, forTarget(request, owned, namer))
      },
    ),
    { seed: 5, numRuns: 1000 },
  )
})

test('a name of a target comes back to the target unchanged', () => {
  const uri = fc.oneof(
    fc.string({ unit: anyCharacter }),
    fc.webUrl(),
    fc.string().map((text) => `ui://${text}`),
  )
  fc.assert(
    fc.property(uri, fc.constantFrom('a', 'b'), (name, target) => {
      const read = forClient(responseOf({ contents: [{ uri: name }] }), 'resources/read', target, namer).value.result
      const [{ uri: shown }] = (read as { contents: [{ uri: string }] }).contents
      const request = requestOf('resources/read', { uri: shown })
      const owned = namer.owner('resource', askedItem(request)!.exposed)
      assert.deepEqual(owned, { target, name })
      assert.deepEqual(forTarget(request, owned, namer).value.params, { uri: name })
    }),
    { seed: 5, numRuns: 500 },
  )
})
