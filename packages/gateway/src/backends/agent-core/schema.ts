import { object } from '../../schema/kit.ts'
import type { Output } from '../../schema/kit.ts'
import { string, textual } from '../../schema/fields/values.ts'

/** SPEC 2.2: services of AWS as backends. */
export const awsBackend = object({
  agentCore: object({
    agentRuntimeArn: textual(parseArn, {
      type: 'ARN',
      expected: 'an ARN such as `arn:aws:bedrock-agentcore:us-east-1:123456789012:runtime/my-agent`',
      json: { type: 'string', minLength: 20, maxLength: 2_048 },
      crd: { type: 'string', minLength: 20, maxLength: 2_048, pattern: '^arn:aws[a-z-]*:bedrock-agentcore:' },
    }).describe('ARN of the agent runtime; it determines region and host.'),
    qualifier: string(
      { min: 1, max: 256 },
      { pattern: /^[\x21-\x7e]+$/, expected: 'a version or the name of an endpoint' },
    )
      .optional()
      .describe('Version or endpoint of the runtime; the default endpoint when unset.'),
  }).describe('An agent or MCP server in Amazon Bedrock AgentCore.'),
}).describe('An AWS service.')

interface RuntimeArn {
  arn: string
  region: string
  host: string
}

function parseArn(text: string): RuntimeArn | null {
  const found = ARN.exec(text)
  if (found === null) return null
  const [, partition, region] = found
  const domain = partition === 'aws-cn' ? 'amazonaws.com.cn' : 'amazonaws.com'
  return { arn: text, region: region!, host: `bedrock-agentcore.${region}.${domain}` }
}

const ARN =
  /^arn:(aws[-a-z]*):bedrock-agentcore:([a-z]{2,4}(?:-[a-z]+)+-[0-9]{1,2}):[0-9]{12}:runtime\/[A-Za-z0-9_-]{1,128}$/

export type AwsBackendConfig = Output<typeof awsBackend>
