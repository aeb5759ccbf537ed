import { dyn, headers, present, struct, type VariableType } from '@portico/cel/check'

/** Where an expression is evaluated: it decides which variables exist. */
export type ExpressionPhase =
  | 'network'
  | 'start'
  | 'request'
  | 'llmRequest'
  | 'mcp'
  | 'backend'
  | 'responseHead'
  | 'response'
  | 'log'

const head = {
  method: present,
  uri: present,
  host: present,
  scheme: present,
  path: present,
  pathAndQuery: present,
  version: present,
  headers,
  startTime: present,
}
/** Reading one of these makes the route buffer. */
const body = { body: present, bodyPrefix: present }

const source = struct({ address: present, port: present, rawAddress: present, rawPort: present })
const request = struct({ ...head, ...body })
const response = { code: present, headers }

/** What policies have found out by the time a request step runs. */
const found = {
  source,
  jwt: dyn,
  apiKey: dyn,
  basicAuth: struct({ username: present }, { optional: true }),
  metadata: dyn,
  proxy: struct({
    bind: dyn,
    gateway: struct({ namespace: present, name: present }),
    listener: struct({ name: dyn }),
    route: struct({ name: dyn, rule: dyn }),
  }),
  env: struct({ podName: present, namespace: present, gateway: present }),
}
const backend = struct({ name: dyn, type: dyn, protocol: dyn })

/** The model call, where the backend is one. */
const llm = struct(
  {
    streaming: present,
    provider: present,
    requestModel: present,
    responseModel: dyn,
    inputTokens: dyn,
    outputTokens: dyn,
    totalTokens: dyn,
    providerInputTokens: dyn,
    providerTotalTokens: dyn,
    cachedInputTokens: dyn,
    cacheCreationInputTokens: dyn,
    reasoningTokens: dyn,
    inputAudioTokens: dyn,
    outputAudioTokens: dyn,
    serviceTier: dyn,
    countTokens: dyn,
    estimated: present,
    timeToFirstToken: dyn,
    timePerOutputToken: dyn,
  },
  { optional: true },
)

const mcpItem = struct({ name: present, target: present }, { optional: true })
/** What an MCP message is about: of the items only one is there, if any. */
const mcp = {
  tool: mcpItem,
  prompt: mcpItem,
  resource: mcpItem,
  task: mcpItem,
  methodName: present,
  sessionId: dyn,
  protocolVersion: dyn,
}

export const variablesByPhase: Record<ExpressionPhase, Readonly<Record<string, VariableType>>> = {
  // Nothing of HTTP has been read yet.
  network: { source },
  // The raw request, before any policy.
  start: { request: struct(head), source },
  request: { ...found, request },
  // The body of a request to a language model, as the client sent it.
  llmRequest: { ...found, request, backend, llmRequest: present },
  // One tool, prompt, resource or task of an MCP server; the message was read from the body.
  mcp: { ...found, request: struct(head), backend, mcp: struct(mcp) },
  backend: { ...found, request, backend },
  // The body is yet to come.
  responseHead: { ...found, request, backend, response: struct(response) },
  response: { ...found, request, backend, llm, response: struct({ ...response, ...body }) },
  // Everything is over: bodies have gone by.
  log: {
    ...found,
    request: struct(head),
    backend,
    llm,
    mcp: struct({ ...mcp, target: dyn, outcome: dyn, errorCode: dyn }, { optional: true }),
    response: struct({ ...response, grpcStatus: dyn }, { optional: true }),
  },
}
