/** Complete configs to begin with. A test starts a gateway with each. */
const FIRST_HTTP = `binds:
- port: 8080
  listeners:
  - routes:
    - name: api
      backends:
      - host: "127.0.0.1:9000"
`

export const FIRST_MODELS = `binds:
- port: 8080
  listeners:
  - routes:
    - name: chat
      backends:
      - ai:
          provider: { mock: {} }
`

export const FIRST_TOOLS = `binds:
- port: 8080
  listeners:
  - routes:
    - name: tools
      backends:
      - mcp:
          targets:
          - name: mine
            static: { host: "127.0.0.1", port: 3001, path: /mcp }
`

export const FIRST_CONFIGS = [
  { title: 'HTTP', about: 'A service behind a port.', text: FIRST_HTTP },
  { title: 'Models', about: 'A chat, answered by a mock until you name a provider.', text: FIRST_MODELS },
  { title: 'Tools', about: 'An MCP server by its address.', text: FIRST_TOOLS },
] as const
