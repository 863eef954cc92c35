"""How forms of the dashboard look: label, control, help and errors, and a summary of the errors above them."""

from django.forms.renderers import DjangoTemplates


class FormRenderer(DjangoTemplates):
    form_template_name = "dashboard/form.html"
    field_template_name = "dashboard/field.html"
