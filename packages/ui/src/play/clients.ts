/** The setup of a client for this gateway: a text of docs/clients with the address filled in. */
export interface ClientSnippet {
  readonly title: string
  /** The file or shell that the text goes into. */
  readonly where: string
  readonly text: string
}

interface ModelAddress {
  /** `http://127.0.0.1:3000` */
  readonly origin: string
  /** `/v1` */
  readonly path: string
  readonly model: string
}

export function modelClients({ origin, path, model }: ModelAddress): ClientSnippet[] {
  const openai = origin + path
  // Libraries of Anthropic add `/v1` themselves.
  const anthropic = origin + path.replace(/\/v1$/, '')
  return [
    {
      title: 'Claude Code',
      where: 'in the shell that starts it',
      text: `export ANTHROPIC_BASE_URL=${anthropic}\nexport ANTHROPIC_AUTH_TOKEN=any\n`,
    },
    {
      title: 'OpenAI SDK',
      where: 'in the shell, for the libraries and for most tools made for OpenAI',
      text: `export OPENAI_BASE_URL=${openai}\nexport OPENAI_API_KEY=any\n`,
    },
    {
      title: 'OpenAI SDK, JavaScript',
      where: 'with these variables',
      text: `import OpenAI from 'openai'

const client = new OpenAI()
const answer = await client.chat.completions.create({
  model: '${model}',
  messages: [{ role: 'user', content: 'hello' }],
})
console.log(answer.choices[0].message.content)
`,
    },
    {
      title: 'OpenAI SDK, Python',
      where: 'with these variables',
      text: `from openai import OpenAI

client = OpenAI()
stream = client.chat.completions.create(
    model="${model}",
    messages=[{"role": "user", "content": "hello"}],
    stream=True,
)
for chunk in stream:
    if chunk.choices:
        print(chunk.choices[0].delta.content or "", end="")
`,
    },
    {
      title: 'Anthropic SDK',
      where: 'in the shell; the library adds /v1',
      text: `export ANTHROPIC_BASE_URL=${anthropic}\nexport ANTHROPIC_API_KEY=any\n`,
    },
    {
      title: 'Anthropic SDK, JavaScript',
      where: 'with these variables',
      text: `import Anthropic from '@anthropic-ai/sdk'

const client = new Anthropic()
const message = await client.messages.create({
  model: '${model}',
  max_tokens: 1000,
  messages: [{ role: 'user', content: 'hello' }],
})
console.log(message.content[0].text)
`,
    },
    {
      title: 'curl',
      where: 'in a shell',
      text: `curl ${openai}/chat/completions -H 'content-type: application/json' \\
  -d '{"model":"${model}","messages":[{"role":"user","content":"hello"}]}'
`,
    },
  ]
}

/** `url` is that of the MCP endpoint. */
export function toolClients(url: string): ClientSnippet[] {
  return [
    {
      title: 'Claude Code',
      where: 'in a shell',
      text: `claude mcp add --transport http portico ${url}\n`,
    },
    {
      title: 'Cursor',
      where: '~/.cursor/mcp.json, or .cursor/mcp.json of a project',
      text: `{
  "mcpServers": {
    "portico": {
      "url": "${url}"
    }
  }
}
`,
    },
    {
      title: 'VS Code',
      where: '.vscode/mcp.json of a workspace',
      text: `{
  "servers": {
    "portico": {
      "type": "http",
      "url": "${url}"
    }
  }
}
`,
    },
  ]
}
