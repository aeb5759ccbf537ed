/** Configs to begin with, where there is nothing yet. */
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
