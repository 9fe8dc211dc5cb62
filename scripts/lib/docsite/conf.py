# SPDX-License-Identifier: Apache-2.0
"""Sphinx's configuration for the site of Tern's documents. scripts/site passes the version."""
from docutils import nodes

project, author = "Tern", "The Tern authors"
extensions = ["myst_parser", "sphinx_copybutton"]
root_doc = "index"
source_suffix = {".md": "markdown"}

myst_heading_anchors = 6
highlight_language = "none"
copybutton_prompt_text = "$ "
copybutton_here_doc_delimiter = "EOF"
copybutton_line_continuation_character = "\\"

# Types of C's library are documented elsewhere.
nitpick_ignore_regex = [("c:identifier", r"u?int\d+_t|size_t|bool")]

html_theme = "furo"
html_title = "Tern"
html_static_path = ["static"]
html_css_files = ["tern.css"]
html_show_sphinx = False
html_copy_source = False
html_show_copyright = False


def link_calls(app, doctree, docname):
    """Makes a link of each `tern_call` in the text that the API describes."""
    places = {name: (page, anchor) for name, _, _, page, anchor, _ in app.env.get_domain("c").get_objects()}
    for node in list(doctree.findall(nodes.literal)):
        place = places.get(node.astext().removesuffix("()"))
        if place and not isinstance(node.parent, nodes.reference):
            uri = f"{app.builder.get_relative_uri(docname, place[0])}#{place[1]}"
            link = nodes.reference("", "", internal=True, refuri=uri)
            node.replace_self(link)
            link += node


def setup(app):
    app.connect("doctree-resolved", link_calls)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
