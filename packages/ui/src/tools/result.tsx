import { useState } from 'react'
import { Copy } from '../parts/copy.tsx'
import type { McpResult } from '../play/mcp-session.ts'
import { type DisplayContent, displayContent } from './content.ts'
import './tools.css'

/** The result of a tool call. */
export function ToolResult({ result }: { result: McpResult }) {
  const [isRaw, setRaw] = useState(false)
  const raw = JSON.stringify(result.raw, null, 2)
  return (
    <section className="tool-result" aria-label="Result">
      <p className={result.isError ? 'play-refused' : 'dim'}>
        {result.isError ? '▲ The tool reported an error' : 'Result'} ·{' '}
        <button type="button" className="link" onClick={() => setRaw(!isRaw)}>
          {isRaw ? 'Formatted' : 'Raw'}
        </button>{' '}
        <Copy text={raw} label="Copy the result as JSON" />
      </p>
      {isRaw ? (
        <pre className="mono play-text">{raw}</pre>
      ) : (
        <>
          {result.content.map((item, index) => (
            <Content key={index} content={displayContent(item)} />
          ))}
          {result.content.length === 0 && result.structuredContent === undefined && (
            <p className="note">The result is empty.</p>
          )}
          {result.structuredContent !== undefined && (
            <>
              <p className="dim">Structured content</p>
              <pre className="mono play-text">{JSON.stringify(result.structuredContent, null, 2)}</pre>
            </>
          )}
        </>
      )}
    </section>
  )
}

function Content({ content }: { content: DisplayContent }) {
  switch (content.kind) {
    case 'text':
      return <pre className="mono play-text">{content.text}</pre>
    case 'image':
      return <img className="tool-image" src={content.source} alt={`from the tool (${content.type})`} />
    case 'resource':
      return (
        <>
          <p className="dim">
            Resource <span className="mono">{content.uri}</span> {content.type}
          </p>
          {content.text === null ? (
            <p className="note">The resource is not text.</p>
          ) : (
            <pre className="mono play-text">{content.text}</pre>
          )}
        </>
      )
    case 'link':
      return (
        <p>
          Link to a resource: {content.name} <span className="mono">{content.uri}</span>{' '}
          <Copy text={content.uri} label="Copy the address" /> <span className="dim">{content.description}</span>
        </p>
      )
    case 'other':
      return <p className="note">{content.what}</p>
  }
}
