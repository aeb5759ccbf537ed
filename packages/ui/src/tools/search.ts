/** The state of the page, as its address holds it. */
interface ToolsSearch {
  route?: string
  tool?: string
  tab?: 'clients'
}

/** Anyone can write an address: invalid values are dropped. */
export function readToolsSearch({ route, tool, tab }: Record<string, unknown>): ToolsSearch {
  return {
    ...(typeof route === 'string' && { route }),
    ...((typeof tool === 'string' || typeof tool === 'number') && { tool: String(tool) }),
    ...(tab === 'clients' && { tab }),
  }
}
