import { useData, withBase } from 'vitepress'
import { h } from 'vue'

/** Links below a page: its Markdown, and where it can be edited if the build was told. */
export const PageSource = {
  setup() {
    const { frontmatter } = useData()
    return () => {
      const { markdownLink, editLink } = frontmatter.value
      const links = [
        markdownLink && h('a', { href: withBase(`/${markdownLink}`), target: '_self' }, 'This page as Markdown'),
        editLink && h('a', { href: editLink }, 'Edit this page'),
      ]
      return h('p', { class: 'page-source' }, links.filter(Boolean))
    }
  },
}
