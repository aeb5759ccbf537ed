import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { HeaderBlock } from '@portico/http'
import { createExpressions } from '../pipeline/expression/expression.ts'
import type { RequestContext } from '../pipeline/context/request-context.ts'
import { createMcpJudge } from './authorize.ts'
import { McpRecord, type McpItem, type McpItemKind } from '../records/mcp-record.ts'
import { anyCharacter } from '../../../http/src/testing/any-character.ts'

const cel = createExpressions({
  random: () => 0.5,
  clock: () => 0,
  now: () => 0,
  identity: { podName: 'p', namespace: 'n', gateway: 'g' },
})

type RuleSpec = string | { allow: string } | { deny: string } | { require: string }

function configOf(rules: readonly RuleSpec[]) {
  return {
    rules: rules.map((rule) => {
      if (typeof rule === 'string') return { mode: 'allow' as const, expression: rule }
      const [[mode, expression]] = Object.entries(rule) as [['allow' | 'deny' | 'require', string]]
      return { mode, expression }
    }),
  }
}

function rxOf(more: Partial<RequestContext> = {}): RequestContext {
  const found = { jwt: null, apiKey: null, basicAuth: null, metadata: null, trace: null, scope: null, mcp: null }
  return { ...found, headers: new HeaderBlock(), ...more } as unknown as RequestContext
}

const item = (kind: McpItemKind, name: string, target = 'git'): McpItem => ({ kind, name, target })

function allows(rules: readonly RuleSpec[], asked: McpItem, rx = rxOf()): boolean {
  return createMcpJudge([configOf(rules)], { cel }).allows(rx, asked)
}

/** Returns the items that rules allow, of two tools, a prompt and a resource. */
function left(...rules: RuleSpec[]): string {
  const asked = [
    item('tool', 'x'),
    item('tool', 'y'),
    item('prompt', 'x'),
    item('resource', 'file:///x'),
    item('task', '7'),
  ]
  return asked
    .filter((each) => allows(rules, each))
    .map(({ kind, name }) => `${kind} ${name}`)
    .join(', ')
}

const EVERYTHING = 'tool x, tool y, prompt x, resource file:///x, task 7'
const WITHOUT_TOOLS = 'prompt x, resource file:///x, task 7'
const WITHOUT_X = 'tool y, prompt x, resource file:///x, task 7'

const table: [name: string, rules: RuleSpec[], left: string][] = [
  ['no rules', [], EVERYTHING],
  ['an allow rule about tools allows nothing else', ['mcp.tool.name == "x"'], 'tool x'],
  ['allow rules add up', ['mcp.tool.name == "x"', 'has(mcp.prompt)'], 'tool x, prompt x'],
  ['by target', ['mcp.tool.target == "git"'], 'tool x, tool y'],
  ['by another target', ['mcp.tool.target == "other"'], ''],
  ['a resource by its URI', ['mcp.resource.name.startsWith("file:///")'], 'resource file:///x'],
  ['deny only: one tool is gone, everything else stays', [{ deny: 'mcp.tool.name == "x"' }], WITHOUT_X],
  ['deny only, with more conditions', [{ deny: 'mcp.tool.name == "x" && mcp.tool.target == "git"' }], WITHOUT_X],
  ['deny only, of a caller without a token', [{ deny: 'mcp.tool.name == "x" && jwt.role != "admin"' }], WITHOUT_X],
  ['deny in a list', [{ deny: 'mcp.tool.name in ["x", "z"]' }], WITHOUT_X],
  [
    'deny of either kind in one rule',
    [{ deny: 'mcp.tool.name == "x" || mcp.prompt.name == "x"' }],
    'tool y, resource file:///x, task 7',
  ],
  [
    'deny by several rules',
    [{ deny: 'mcp.tool.name == "x"' }, { deny: 'mcp.prompt.name == "x"' }],
    'tool y, resource file:///x, task 7',
  ],
  ['deny with a guard', [{ deny: 'has(mcp.tool) && mcp.tool.name == "x"' }], WITHOUT_X],
  [
    'deny of everything but one tool, among tools',
    [{ deny: 'mcp.tool.name != "x"' }],
    'tool x, prompt x, resource file:///x, task 7',
  ],
  ['a deny rule that fails for another reason denies', [{ deny: 'jwt.sub == "a"' }], ''],
  ['also where a part of it is about tools', [{ deny: 'mcp.tool.name == "z" || jwt.sub == "a"' }], ''],
  ['in either order', [{ deny: 'jwt.sub == "a" || mcp.tool.name == "z"' }], ''],
  [
    'where parts are nested, failing denies tools and leaves the rest alone',
    [{ deny: '(mcp.tool.name == "z" || jwt.sub == "a") && true' }],
    WITHOUT_TOOLS,
  ],
  ['a choice too', [{ deny: 'jwt.sub == "a" ? mcp.tool.name == "x" : false' }], WITHOUT_TOOLS],
  ['a negation too', [{ deny: 'mcp.tool.name == "x" && !(jwt.role == "admin")' }], WITHOUT_X],
  ['whatever stands beside it', [{ deny: 'request.headers["x-a"] == "b" && mcp.tool.name == "x"' }], WITHOUT_X],
  [
    'what asks first whether there is a tool speaks of the rest too',
    [{ deny: 'has(mcp.tool) ? mcp.tool.name == "x" : jwt.sub == "a"' }],
    'tool y',
  ],
  [
    'who asks for something else called tool does not ask whether there is a tool',
    [{ deny: '(has(jwt.tool) || true) && mcp.tool.name == "x"' }],
    WITHOUT_X,
  ],
  ['nor who asks for a part of it', [{ deny: '(has(mcp.tool.name) || true) && mcp.tool.name == "x"' }], WITHOUT_X],
  ['deny beats allow', ['true', { deny: 'mcp.tool.name == "x"' }], WITHOUT_X],
  ['a require rule about tools lets only tools through', [{ require: 'mcp.tool.name == "x"' }], 'tool x'],
  [
    'unless it is told about the others',
    [{ require: '!has(mcp.tool) || mcp.tool.name == "x"' }],
    'tool x, prompt x, resource file:///x, task 7',
  ],
  ['require and allow', [{ require: 'has(mcp.tool)' }, 'mcp.tool.name == "y"', 'has(mcp.prompt)'], 'tool y'],
  ['a rule that is neither true nor false', ['mcp.tool.name'], ''],
  ['a deny rule that is neither true nor false', [{ deny: 'mcp.tool.name' }], 'prompt x, resource file:///x, task 7'],
  ['by method', ['mcp.methodName == "tools/call"'], ''],
]
for (const [name, rules, expected] of table) {
  test(`truth table: ${name}`, () => assert.equal(left(...rules), expected))
}

test('rules see who asks, and with what', () => {
  const headers = new HeaderBlock()
  headers.add('x-team', 'blue')
  const tool = item('tool', 'x')
  assert.ok(allows(['"tools:run" in jwt.permissions'], tool, rxOf({ jwt: { permissions: ['tools:run'] } })))
  assert.ok(!allows(['"tools:run" in jwt.permissions'], tool, rxOf({ jwt: { permissions: [] } })))
  assert.ok(!allows(['"tools:run" in jwt.permissions'], tool))
  assert.ok(allows(['apiKey.group == "ops"'], tool, rxOf({ apiKey: { group: 'ops' } })))
  assert.ok(allows(['basicAuth.username == "ann"'], tool, rxOf({ basicAuth: { username: 'ann' } })))
  assert.ok(allows(['request.headers["x-team"] == "blue"'], tool, rxOf({ headers })))
  // A header that is missing is a rule that fails, never one that passes in silence.
  assert.ok(!allows(['request.headers["x-team"] == "blue"'], tool))
  assert.ok(!allows([{ deny: 'request.headers["x-team"] == "red"' }], tool))
})

test('rules see the method and the session of the message', () => {
  const mcp = Object.assign(new McpRecord(), { method: 'tools/call', session: 's1', version: '2025-11-25' })
  const rule = 'mcp.methodName == "tools/call" && mcp.sessionId == "s1" && mcp.protocolVersion == "2025-11-25"'
  assert.ok(allows([rule], item('tool', 'x'), rxOf({ mcp })))
  assert.ok(!allows([rule], item('tool', 'x')))
})

test('rules of all attachments count together', () => {
  const route = configOf([{ deny: 'mcp.tool.name == "x"' }])
  const target = { action: 'Allow' as const, policy: { matchExpressions: ['mcp.tool.target == "git"'] } }
  const judge = createMcpJudge([route, target], { cel })
  assert.ok(judge.hasRules)
  assert.ok(!judge.allows(rxOf(), item('tool', 'x')))
  assert.ok(judge.allows(rxOf(), item('tool', 'y')))
  assert.ok(!judge.allows(rxOf(), item('tool', 'y', 'other')))
})

test('asking about an item of a list leaves the message of the request as it was', () => {
  const called = item('tool', 'called')
  const mcp = Object.assign(new McpRecord(), { item: called })
  allows(['mcp.tool.name == "x"'], item('prompt', 'p'), rxOf({ mcp }))
  assert.deepEqual([mcp.item, mcp.judged], [called, null])
})

test('every rule is explained, with its failure', () => {
  const judge = createMcpJudge([configOf(['mcp.tool.name == "x"', { deny: 'mcp.tool.name == "y"' }])], { cel })
  assert.deepEqual(judge.decide(rxOf(), item('prompt', 'p')).rules, [
    { name: 'mcp.tool.name == "x"', mode: 'allow', matched: false, error: 'no such key: mcp.tool.name' },
    { name: 'mcp.tool.name == "y"', mode: 'deny', matched: false },
  ])
})

test('the rules of the denied form are explained where the name itself is allowed', () => {
  const judge = createMcpJudge([configOf([{ deny: 'mcp.resource.name == "demo://a/b"' }])], { cel })
  const matched = (name: string): boolean[] =>
    judge.decide(rxOf(), item('resource', name)).rules.map((rule) => rule.matched)
  assert.deepEqual(['demo://a/./b', 'demo://a/b', 'demo://a/c'].map(matched), [[true], [true], [false]])
})

test('a decision evaluates every rule as often for a hidden name as for an unknown one', () => {
  let evaluations = 0
  const counting: typeof cel = (...parts) => {
    const compiled = cel(...parts)
    const evaluate: typeof compiled.evaluate = (rx) => {
      evaluations++
      return compiled.evaluate(rx)
    }
    return { ...compiled, evaluate }
  }
  const rules: RuleSpec[] = [
    { deny: 'mcp.tool.name == "hidden" || mcp.tool.name == "other"' },
    { deny: 'mcp.resource.name == "demo://hidden"' },
    { require: 'mcp.tool.name != "barred"' },
    'mcp.tool.name == "hidden"',
    'true',
  ]
  const judge = createMcpJudge([configOf(rules)], { cel: counting })
  const evaluationsOf = (kind: McpItemKind, name: string): number => {
    evaluations = 0
    judge.decide(rxOf(), item(kind, name))
    return evaluations
  }
  const tools = ['hidden', 'other', 'barred', 'unknown']
  assert.deepEqual(
    tools.map((name) => evaluationsOf('tool', name)),
    [6, 6, 6, 6],
  )
  assert.equal(evaluationsOf('resource', 'DEMO://hidden'), evaluationsOf('resource', 'DEMO://hiddem'))
  assert.equal(evaluationsOf('resource', 'demo://a/%2fhidden'), evaluationsOf('resource', 'demo://a/%2fhiddem'))
})

test('a decision says what each question alone says, for any rules and names', () => {
  const expression = fc.constantFrom(
    'mcp.tool.name == "x"',
    'mcp.resource.name == "demo://x"',
    'true',
    'false',
    'jwt.sub == "a"',
    '1',
  )
  const rule = fc
    .tuple(fc.constantFrom('allow', 'deny', 'require'), expression)
    .map(([mode, text]) => ({ [mode]: text }) as RuleSpec)
  const names = fc.constantFrom(
    'x',
    ' x',
    'demo://x',
    'DEMO://x',
    'demo://./x',
    'demo://a%2f..%2fx',
    'demo://a%2F..%2Fx',
  )
  const kind = fc.constantFrom<McpItemKind[]>('tool', 'prompt', 'resource', 'task')
  fc.assert(
    fc.property(fc.array(rule, { maxLength: 4 }), kind, names, (rules, each, name) => {
      const judge = createMcpJudge([configOf(rules)], { cel })
      const asked = item(each, name)
      const { isAllowed, isAmbiguous } = judge.decide(rxOf(), asked)
      const alone = [judge.allows(rxOf(), asked), judge.isAmbiguous(rxOf(), asked)]
      assert.deepEqual([isAllowed, isAmbiguous], alone)
    }),
    { seed: 7, numRuns: 500 },
  )
})

test('the name of a tool is no URI, so only that name is judged', () => {
  const tool = item('tool', 'a%2Fb')
  assert.ok(allows([{ deny: 'mcp.tool.name == "a/b"' }], tool))
  const judge = createMcpJudge([configOf(['mcp.tool.name == "a%2Fb"'])], { cel })
  assert.ok(!judge.isAmbiguous(rxOf(), tool))
  assert.deepEqual([judge.decide(rxOf(), tool).isAllowed, judge.decide(rxOf(), tool).isAmbiguous], [true, false])
})

test('a resource is ambiguous where the URI with its separators decoded is not allowed', () => {
  const judge = createMcpJudge([configOf(['mcp.resource.name.startsWith("demo://host/a/")'])], { cel })
  const isAmbiguous = (name: string): boolean => judge.isAmbiguous(rxOf(), item('resource', `demo://host/a/${name}`))
  assert.deepEqual(['b', 'b%2Fc', '..%2Fb'].map(isAmbiguous), [false, false, true])
})

test('no rules ask nothing of the request', () => {
  const judge = createMcpJudge([], { cel })
  assert.ok(!judge.hasRules)
  assert.ok(judge.allows(rxOf(), item('tool', 'x')))
  // Without rules there is nothing that another spelling could pass by.
  assert.ok(!judge.isAmbiguous(rxOf(), item('tool', ' x')))
  assert.deepEqual(judge.decide(rxOf(), item('tool', ' x')), { isAllowed: true, isAmbiguous: false, rules: [] })
})

test('whatever names targets invent, a deny rule of a name denies exactly that name', () => {
  const kind = fc.constantFrom<McpItemKind[]>('tool', 'prompt', 'resource', 'task')
  fc.assert(
    fc.property(kind, fc.string({ unit: anyCharacter }), (each, name) => {
      assert.equal(allows([{ deny: 'mcp.tool.name == "x"' }], item(each, name)), each !== 'tool' || name !== 'x')
    }),
    { seed: 5 },
  )
})
