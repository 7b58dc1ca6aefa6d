import { defineComponent, h, onMounted, ref, watch } from 'vue'
import DefaultTheme from 'vitepress/theme'
import { useData } from 'vitepress'
import './style.css'

let drawn = 0

/** A Mermaid diagram. The library is loaded with the first one. `code` is base64. */
const Diagram = defineComponent({
  props: { code: { type: String, required: true } },
  setup({ code }) {
    const svg = ref('')
    const { isDark } = useData()
    const text = () => new TextDecoder().decode(Uint8Array.from(atob(code), (one) => one.charCodeAt(0)))
    const draw = async () => {
      const { default: mermaid } = await import('mermaid')
      mermaid.initialize({ startOnLoad: false, securityLevel: 'strict', theme: isDark.value ? 'dark' : 'default' })
      svg.value = (await mermaid.render(`diagram-${(drawn += 1)}`, text())).svg
    }
    onMounted(draw)
    watch(isDark, draw)
    return () => h('div', { class: 'diagram', role: 'img', 'aria-label': 'Diagram', innerHTML: svg.value })
  },
})

export default {
  extends: DefaultTheme,
  enhanceApp: ({ app }) => app.component('Diagram', Diagram),
}
