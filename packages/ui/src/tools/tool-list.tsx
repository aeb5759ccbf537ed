import { Link } from '@tanstack/react-router'
import { formatCount } from '../format/numbers.ts'
import type { McpTool, ToolList as Listed } from '../play/mcp-session.ts'
import { estimatedTokens } from './tool-size.ts'

interface ToolListProps {
  list: Listed
  /** The tools that match the filter. */
  shown: readonly McpTool[]
  open: string | null
  /** Key of the route. */
  route: string
}

/** The tools that a client sees on a route, with their size, and the tools that rules hide from it. */
export function ToolList({ list: { tools, hidden }, shown, open, route }: ToolListProps) {
  const sum = tools.reduce((total, tool) => total + estimatedTokens(tool), 0)
  return (
    <>
      <p className="dim tools-sum">
        {formatCount(tools.length)} tools · ≈ {formatCount(sum)} tokens{' '}
        <span title="Four bytes of JSON for a token">(estimated)</span>
      </p>
      {tools.length === 0 && <p className="note">The MCP servers of this route offer no tools to this caller.</p>}
      <ul className="play-pick">
        {shown.map((tool) => (
          <li key={tool.name}>
            <Link
              to="/tools"
              search={{ route, tool: tool.name }}
              aria-current={tool.name === open ? 'true' : undefined}
              className="tool-line"
            >
              <span className="mono">{tool.name}</span>
              <span className="number dim">{formatCount(estimatedTokens(tool))}</span>
            </Link>
          </li>
        ))}
      </ul>
      {hidden.length > 0 && (
        <section aria-label="Hidden tools" className="tools-hidden">
          <h2>Hidden from this caller</h2>
          <ul>
            {hidden.map(({ name, why }) => (
              <li key={name}>
                <span className="mono">✕ {name}</span> <span className="dim mono">{why}</span>
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  )
}
