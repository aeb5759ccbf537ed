import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { scopeOfHost } from './endpoint.ts'

const hosts: Record<string, [string, string] | null> = {
  'bedrock-runtime.eu-west-1.amazonaws.com': ['bedrock', 'eu-west-1'],
  'bedrock-runtime-fips.us-gov-west-1.amazonaws.com': ['bedrock', 'us-gov-west-1'],
  'BEDROCK-RUNTIME.us-east-1.AMAZONAWS.com': ['bedrock', 'us-east-1'],
  'bedrock-agentcore.us-east-1.amazonaws.com': ['bedrock-agentcore', 'us-east-1'],
  'vpce-1.bedrock-runtime.ap-southeast-2.vpce.amazonaws.com': ['bedrock', 'ap-southeast-2'],
  'abc.execute-api.eu-central-1.amazonaws.com': ['execute-api', 'eu-central-1'],
  'bucket.s3.eu-west-1.amazonaws.com': ['s3', 'eu-west-1'],
  'sqs.cn-north-1.amazonaws.com.cn': ['sqs', 'cn-north-1'],
  'abc.lambda-url.eu-west-1.on.aws': ['lambda', 'eu-west-1'],
  'bedrock-runtime.eu-west-1.api.aws': ['bedrock', 'eu-west-1'],
  'iam.amazonaws.com': null,
  'eu-west-1.amazonaws.com': null,
  'bedrock-runtime.eu-west-1.amazonaws.com.evil.example': null,
  'bedrock-runtime.eu-west-1.notamazonaws.com': null,
  '127.0.0.1': null,
  localhost: null,
  '': null,
}

for (const [host, expected] of Object.entries(hosts)) {
  test(`the host "${host}" ${expected === null ? 'tells nothing' : `is ${expected.join(' in ')}`}`, () => {
    assert.deepEqual(scopeOfHost(host), expected && { service: expected[0], region: expected[1] })
  })
}

test('any text is a host or none', () => {
  fc.assert(fc.property(fc.string(), (text) => void scopeOfHost(text)))
})
