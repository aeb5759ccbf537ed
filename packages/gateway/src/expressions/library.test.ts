import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isCelError } from '@portico/cel'
import { HeaderBlock } from '@portico/http'
import { compileExpression } from '../pipeline/expression/expression.ts'
import { BlockView } from '../pipeline/views/header-view.ts'
import { Refusal } from '../schema/kit.ts'
import { readExpression } from '../schema/fields/expression.ts'

/** One call of each function of the library, in the words of a policy. */
const calls: Record<string, unknown> = {
  'json("[1]")[0]': 1,
  'json(request.body).a': 'b',
  'toJson({"a": 1})': '{"a":1}',
  'unvalidatedJwtPayload("e30.eyJzdWIiOiJ1In0.x").sub': 'u',
  'base64.encode("hi")': 'aGk=',
  'string(base64.decode("aGk"))': 'hi',
  'url.encode("a b")': 'a%20b',
  'url.decode("a%20b")': 'a b',
  'form.encode({"b": "1", "a": "x y"})': 'a=x+y&b=1',
  'form.decode("a=1&a=2").a[1]': '2',
  'sha1.encode("a")': '86f7e437faa5a7fce15d1ddcb9eaeaea377667b8',
  'sha256.encode("a").startsWith("ca978112")': true,
  'md5.encode("a")': '0cc175b9c0f1b6a831c399e269772661',
  'default(jwt.sub, "nobody")': 'nobody',
  'coalesce(jwt.sub, null, "x")': 'x',
  '"abc".with(x, x + x)': 'abcabc',
  '{"a": 1}.mapValues(v, v + 1).a': 2,
  'size({"a": 1, "b": 2}.filterKeys(k, k == "a"))': 1,
  'size({"a": 1}.merge({"b": 2}))': 2,
  'random() < 1.0': true,
  'size(uuid())': 36,
  '"abab".regexReplace("a", "x")': 'xbab',
  'isIP("10.0.0.1")': true,
  'ip("10.0.0.1").isLoopback()': false,
  'cidr("10.0.0.0/8").containsIP(source.address)': true,
  'cidr("10.0.0.0/8").prefixLength()': 8,
  '"Hello".lowerAscii()': 'hello',
  '"a-b".split("-")[1]': 'b',
  '"prefix-x".stripPrefix("prefix-")': 'x',
  'math.greatest(1, 3, 2)': 3,
  'request.headers.?missing.orValue("none")': 'none',
}

const scope = {
  request: { body: Buffer.from('{"a":"b"}'), headers: new BlockView(new HeaderBlock()) },
  source: { address: '10.1.2.3' },
  random: () => 0.5,
}

test('policies know every function of the library, when a config is checked and when it runs', () => {
  for (const [source, expected] of Object.entries(calls)) {
    const checked = readExpression(source, 'request')
    assert.ok(!(checked instanceof Refusal), `${source}: ${JSON.stringify(checked)}`)
    const result = compileExpression(source, 'request').evaluate(scope)
    assert.ok(!isCelError(result), `${source}: ${JSON.stringify(result)}`)
    assert.deepEqual(result, expected, source)
  }
})

test('a function that does not exist, and a literal that cannot work, are refused when a config is checked', () => {
  for (const source of [
    'request.path.startWith("/")',
    'nope(1)',
    'cidr("10.0.0.0/99").containsIP("10.0.0.1")',
    '"a".matches("(")',
  ]) {
    assert.ok(readExpression(source, 'request') instanceof Refusal, source)
  }
})
